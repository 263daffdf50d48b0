"""Defences of the server: which uploads it keeps, which counts it believes, what it calls a mean.

A cap and a filter turn uploads into uploads, and SPEAR goes on with them as ever. A robust mean
takes the place of shrinking and averaging. All of them act on the prototypes as they were sent: a
shrunk one has already been pulled towards the lies of its peers. Every class is judged among its
own holders, which under strong label skew are two or so: two holders that disagree are equally far
from each other, so no rule that looks at one class alone can say which of them lies.

To add one: its function in a file here, and its entry in `DEFENCES`. `Settings` reads this table,
so the files import nothing of the engine but `propagate` and `lance.ridge`; types come under
TYPE_CHECKING.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from spear_core.defences import agreement, caps, consensus, cosine, krum, oracle, robust

if TYPE_CHECKING:
    from spear_core.client import Uploads
    from spear_core.graph import Graph
    from spear_core.settings import Settings


@dataclass(frozen=True)
class Defence:
    """One way to defend: its name, its words for people, its function and what that looks at.

    `apply` makes uploads of uploads; `mean` makes the mean of one class, (F), of its prototypes
    (h, F) and their weights (h). After these either is given what its entry names, in this order:
    the value of the knob, the graph, the liars. It gets to see nothing else.
    """

    name: str
    words: str
    apply: Callable[..., "Uploads"] | None = None
    mean: Callable[..., Tensor] | None = None
    knob: str = ""  # the field of Settings that it reads
    needs_graph: bool = False  # looks at the test graph, which a real server does not have
    knows_liars: bool = False  # is told who lies: a yardstick, since nobody knows that

    def given(self, settings: "Settings") -> list[Any]:
        """The value of its knob, if it has one."""
        return [getattr(settings, self.knob)] if self.knob else []


_ALL = (
    Defence("none", "none"),
    Defence("cap", "cap on shares", caps.cap, knob="cap_share"),
    Defence("cap-median", "cap at the median", caps.cap_median),
    Defence("median", "coordinate median", mean=robust.median),
    Defence("trimmed", "trimmed mean", mean=robust.trimmed, knob="trim"),
    Defence("geometric", "geometric median", mean=robust.geometric),
    Defence("krum", "Krum", krum.krum, knob="expected_attackers"),
    Defence("multi-krum", "multi-Krum", krum.multi_krum, knob="expected_attackers"),
    Defence("cosine", "cosine filter", cosine.cosine),
    Defence("agreement", "agreement", agreement.agreement),
    Defence("consensus", "consensus", consensus.consensus, needs_graph=True),
    Defence("oracle", "oracle", oracle.oracle, knows_liars=True),
)
DEFENCES: dict[str, Defence] = {one.name: one for one in _ALL}


def defend(
    uploads: "Uploads", settings: "Settings", graph: "Graph | None", liars: tuple[int, ...]
) -> "Uploads":
    """The uploads the defence keeps, with the counts it believes; themselves without one."""
    chosen = DEFENCES[settings.defence]
    if chosen.apply is None:
        return uploads
    given = chosen.given(settings)
    given += [graph] * chosen.needs_graph + [liars] * chosen.knows_liars
    return chosen.apply(uploads, *given)


def robust_mean(uploads: "Uploads", settings: "Settings") -> Tensor | None:
    """The robust mean of every class, (C, F); None where the weighted mean is meant.

    Of the prototypes as sent; they weigh by count where `count_weights` is on.
    """
    chosen = DEFENCES[settings.defence]
    if chosen.mean is None:
        return None
    p = uploads.prototypes
    n = uploads.counts.to(p.dtype)
    weight = n if settings.count_weights else torch.ones_like(n)
    means = torch.zeros(uploads.classes, uploads.features, dtype=p.dtype, device=p.device)
    for rows in uploads.by_class():
        means[uploads.label[rows[0]]] = chosen.mean(p[rows], weight[rows], *chosen.given(settings))
    return means
