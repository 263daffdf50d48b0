"""What the gate chose, in words: how hard inference and every client smooth, and why."""

import math

from spear_core.lance.affinity import affinity, client_affinity
from spear_core.lance.gate import asked
from spear_core.run import Result


def gate_words(result: Result) -> str:
    """Why inference smooths as it does, and how many clients do alike; empty where it is fixed."""
    s = result.settings
    if s.smoothing != "gated":
        return ""
    if s.epsilon < math.inf or not asked(s):
        return "With a finite ε nobody asks the gate: α and T hold for every client."
    whole = affinity(result.graph)
    near, edges, above = float(whole.value), int(whole.edges), bool(whole.trusted > s.gate)
    side = "above" if above else "not above"
    if not above and near > s.gate:
        side = f"believed too little, with {edges} edges, to pass"
    theirs = client_affinity(result.held).trusted[result.held.train_counts.any(dim=1)]
    alike = int(((theirs > s.gate) == above).sum())
    return (
        f"The features say so, no label does: affinity {near:.3f} is {side} the gate "
        f"{s.gate:g}. Of {len(theirs)} clients {alike} choose the same by their own edges."
    )
