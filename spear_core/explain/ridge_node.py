"""What a ridge score is made of: the share of a class, every prototype's part, the residuals' part.

W = Aᵀ B with B = (g D − A W) / λ, where g is what W has grown by, so a score is π_c plus a sum over
the rows of A, which are the prototypes as they were sent and the rows of the sketches; all of it
levelled as the scores are.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spear_core.explain.node import View
from spear_core.run import Result


@dataclass(frozen=True, eq=False)
class Parts:
    """The scores of one node, (C), by what gives them; they add up."""

    prior: Tensor  # (C): of the share π
    prototypes: Tensor  # (P, C): of every upload
    residuals: Tensor  # (C)
    client: Tensor  # (P)
    label: Tensor  # (P)

    @property
    def scores(self) -> Tensor:
        return self.prior + self.prototypes.sum(0) + self.residuals

    def of_class(self, label: int) -> Tensor:
        """What the prototypes of one class give to every score, (C)."""
        return self.prototypes[self.label == label].sum(0)


def parts(result: Result, view: View) -> Parts | None:
    """The parts of a node's scores; None where the run has no ridge head."""
    ridge, up = result.estimate.ridge, result.uploads
    if ridge is None:
        return None
    z = result.graph.collect(view.rows[-1][:, None].contiguous())[0].double()
    far, root = z - ridge.mean, up.counts.double().sqrt()[:, None]
    a = root * (up.prototypes.double() - ridge.mean)
    one_hot = torch.nn.functional.one_hot(up.label, up.classes).double()
    b = (ridge.grown * root * (one_hot - ridge.prior) - a @ ridge.w) / ridge.penalty
    each = (a @ far)[:, None] * b
    rest = far @ ridge.w - each.sum(0)  # all that is left of W comes from sketches
    lift = ridge.lift
    return Parts(ridge.prior * lift, each * lift, rest * lift, up.client, up.label)


def words(result: Result, view: View) -> str:
    """Who gives the winning score, in one sentence; empty where the run has no ridge head."""
    found = parts(result, view)
    if found is None:
        return ""
    won, name = view.predicted, result.graph.names[view.predicted]
    given = found.prototypes[:, won]
    own = (found.label == won).nonzero().flatten()
    said = [f"{float(found.prior[won]):.2f} comes from the class's share of the training nodes"]
    if len(own):
        best = int(own[given[own].argmax()])
        said.append(
            f"{float(given[own].sum()):+.2f} comes from prototypes of class {name} "
            f"({float(given[best]):+.2f} from client {int(found.client[best])}'s)"
        )
    others = float(given.sum() - given[own].sum())
    said.append(f"{others:+.2f} from those of other classes")
    if result.settings.sketch > 0:
        said.append(f"{float(found.residuals[won]):+.2f} from the residuals")
    return f"Of its score {float(found.scores[won]):.2f}, {', '.join(said)}."
