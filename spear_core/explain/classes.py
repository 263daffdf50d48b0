"""How many test nodes of a class are right, and what the others are called."""

from spear_core.measures.spread import percent
from spear_core.run import Result


def share_right(result: Result, label: int) -> str:
    """One sentence about a class: "class 3: 82.0 % right, 41 of 50 test nodes; 5 called 8"."""
    names = result.graph.names
    row = result.metrics.confusion[label].tolist()
    nodes, right = sum(row), row[label]
    if nodes == 0:
        return f"class {names[label]}: no test node"
    share = percent(right / nodes)
    words = f"class {names[label]}: {share} right, {right:,} of {nodes:,} test nodes"
    others = sorted(((n, -c) for c, n in enumerate(row) if n and c != label), reverse=True)[:2]
    called = ", ".join(f"{n:,} called {names[-c]}" for n, c in others)
    return f"{words}; {called}" if called else words
