"""Why a node is right or wrong, in sentences made from its numbers."""

import torch

from spear_core.graph import Graph
from spear_core.node_view import View
from spear_core.run import Result


def explain(result: Result, view: View) -> str:
    """Why the node is right or wrong, in two or three sentences made from its numbers."""
    return " ".join(filter(None, (_around(result, view), _decision(result, view), _turn(view))))


def _around(result: Result, view: View) -> str:
    y, d = result.graph.y[view.neighbours], len(view.neighbours)
    if d == 0:
        return "It has no neighbour, so smoothing leaves it as it is."
    if d == 1:
        return f"Its one neighbour is of class {name_of(result.graph, int(y))}."
    own = int((y == view.true).sum())
    others = torch.bincount(y[y != view.true], minlength=result.graph.classes)
    other = int(others.argmax()) if view.right else view.predicted
    words = f"{own} of {d} neighbours {'is' if own == 1 else 'are'} of its own class "
    words += name_of(result.graph, view.true)
    n = int(others[other])
    return words + (f", {n} of class {name_of(result.graph, other)}." if n else ".")


def _decision(result: Result, view: View) -> str:
    graph, won = result.graph, view.predicted
    verdict = "right" if view.right else "wrong"
    winner = name_of(graph, won)
    if not bool(view.after.nan_to_num().any()):
        return f"It is similar to no prototype, so class {winner} wins by its place: {verdict}."
    rest = view.after.nan_to_num(-torch.inf).clone()
    rest[won] = -torch.inf
    rival = int(rest.argmax()) if view.right else view.true
    before, after, lost = (float(v) for v in (view.before[won], view.after[won], view.after[rival]))
    differ = (n for n in (2, 3, 4) if f"{after:.{n}f}" != f"{lost:.{n}f}")
    d = next(differ, 5)  # enough digits to tell the two apart
    if view.moved:
        moved = f"Smoothing moved its similarity to class {winner} from {before:.{d}f} "
        moved += f"to {after:.{d}f}"
    else:
        moved = f"Its similarity to class {winner} is {after:.{d}f}"
    if rival != won and bool(result.estimate.seen[rival]):
        return f"{moved}, so it wins over {name_of(graph, rival)} ({lost:.{d}f}): {verdict}."
    if view.right:
        return f"{moved}; no other class has a prototype: {verdict}."
    return f"{moved}; class {name_of(graph, rival)} has no training node and cannot win: {verdict}."


def _turn(view: View) -> str:
    """What smoothing changed, where it did."""
    led = int(view.before.nan_to_num(-torch.inf).argmax())
    if led == view.predicted or not view.moved or not bool(view.before.nan_to_num().any()):
        return ""
    if view.right:
        return "Without smoothing it would be wrong: the neighbours put it right."
    if led == view.true:
        return "Without smoothing it would be right: the neighbours led it astray."
    return "Without smoothing it would be wrong too, with another class."


def name_of(graph: Graph, label: int) -> str:
    """The name of a class, or its number."""
    return graph.class_names[label] if graph.class_names else str(label)
