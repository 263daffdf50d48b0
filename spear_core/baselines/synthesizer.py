"""A client's generator of rows like its training rows: what GHOST's and OASIS's clients send.

Row i of a made-up graph stands for training row i. The loss is λ_d KL(softmax x_i ‖ softmax x̂_i),
plus 1 - the mean cosine, plus λ_f times the fused Gromov–Wasserstein distance of both graphs, by
POT. Only the features carry the gradient of that distance, as in GHOST's code: edges are chosen.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cosine_similarity, kl_div

from spear_core.baselines.fedavg import Federation
from spear_core.baselines.generator import ConditionalGenerator, knn_links
from spear_core.baselines.local import Local
from spear_core.baselines.oneshot import descend, normal
from spear_core.wanted import still_wanted

NOISE = 64
NEIGHBOURS = 4  # the five most alike of a row, which is one of them
DROPOUT = 0.2
HALF = 0.5  # structure and features weigh the same in FGW
PLAN_NODES = 200  # training rows that a plan is made for; more are drawn anew in every epoch
PLAN_STEPS = 10  # of POT's conditional gradient


@dataclass(frozen=True)
class Terms:
    """How a generator is fitted."""

    spread: float  # λ_d
    fused: float  # λ_f
    epochs: int
    rate: float
    decay: float


def new_maker(f: Federation) -> ConditionalGenerator:
    """The generator that every client starts from."""
    return ConditionalGenerator(NOISE, f.classes, f.features, DROPOUT).start(f.seed, f.device)


def fitted(
    f: Federation, client: Local, terms: Terms, rng: np.random.Generator
) -> ConditionalGenerator:
    """A client's generator after all epochs; it reads nothing but training rows and their edges."""
    maker, real, device = new_maker(f), client.training_rows, f.device
    adam = torch.optim.Adam(maker.parameters(), lr=terms.rate, weight_decay=terms.decay)
    inside = client.train.cpu().numpy()
    links = client.links[inside][:, inside]
    links = links.maximum(links.T).tocsr()
    for _ in range(terms.epochs):
        still_wanted()
        made = maker(normal(rng, len(real), NOISE, device=device), client.label, rng)
        loss = 1 - cosine_similarity(made, real, dim=1).mean()
        goal, mine = real.log_softmax(1), made.log_softmax(1)
        loss = loss + terms.spread * kl_div(mine, goal, reduction="batchmean", log_target=True)
        if terms.fused:
            some = np.arange(len(real))
            if len(some) > PLAN_NODES:
                some = np.sort(rng.choice(some, PLAN_NODES, replace=False))
            chosen = torch.as_tensor(some, device=device)
            apart = torch.cdist(real[chosen], made[chosen]).square()
            alike = knn_links(made[chosen], NEIGHBOURS).cpu().numpy()
            plan = transport(apart.detach().cpu().numpy(), links[some][:, some].toarray(), alike)
            carried = torch.as_tensor(plan, dtype=apart.dtype, device=device)
            loss = loss + terms.fused * (1 - HALF) * (carried * apart).sum()
        descend(adam, loss)
    return maker


def transport(apart: np.ndarray, real: np.ndarray, made: np.ndarray) -> np.ndarray:
    """The plan of fused Gromov–Wasserstein between two graphs of equally weighing nodes, (n, m).

    `apart` are the squared distances of their rows, the others their adjacencies.
    """
    from ot.gromov import fused_gromov_wasserstein  # read when it is wanted: it takes a while

    n, m = apart.shape
    weights = np.full(n, 1 / n), np.full(m, 1 / m)
    structures = real.astype(np.float64), made.astype(np.float64)
    return np.asarray(
        fused_gromov_wasserstein(
            apart.astype(np.float64),
            *structures,
            *weights,
            alpha=HALF,
            symmetric=True,
            max_iter=PLAN_STEPS,
        )
    )
