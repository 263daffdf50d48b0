"""Privacy of the one upload: noise on sums and counts, calibrated to (ε, δ). Uploads → Uploads.

Protected is what a node is: two datasets are neighbours if one node has other features and another
label while the nodes, the edges and which nodes are labelled stay the same. Every client releases,
for every class, the sum of its smoothed labelled nodes and their number, also where that is zero;
means, clipping, rounding, shrinkage and all the server does come after the noise and cost nothing.
docs/privacy.md has the derivation and what is not protected.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spear_core.client import Uploads
from spear_core.partition import Partition
from spear_core.propagate import mixing, propagate
from spear_core.randomness import generator
from spear_core.settings import Settings
from spear_core.transforms.calibration import gaussian_mu

COUNT_SHARE = 0.1  # of the budget that goes to the counts; 0.03 and 0.3 did not do better


@dataclass(frozen=True)
class Noise:
    """How wide a client's noise is: σ of the Gaussian or b of the Laplace distribution."""

    sums: float  # on every coordinate of a class sum
    counts: float  # on every count


def privatise(uploads: Uploads, settings: Settings, secret: int | None = None) -> Uploads:
    """The uploads as private clients send them; themselves when ε is infinite.

    A simulation draws its noise from the seed; a real client gives a secret of its own.
    """
    if settings.epsilon == math.inf:
        return uploads
    if uploads.source is None:
        raise ValueError("Noise is calibrated to what a client holds; give its own upload.")
    partition = uploads.source.partition
    device, moved = partition.owner.device, sensitivity(partition, settings).tolist()
    sums = uploads.prototypes * uploads.counts[:, None]
    client, label, counts, prototypes = [], [], [], []
    for k in uploads.client.unique().tolist():  # a client without a labelled node sends nothing
        rows = uploads.client == k
        full = torch.zeros(uploads.classes, uploads.features, device=device)
        full[uploads.label[rows]] = sums[rows]
        p, n = private_rows(
            full,
            partition.train_counts[k],
            noise(moved[k], uploads.features, settings),
            settings.mechanism,
            noise_generator(settings, k) if secret is None else np.random.default_rng(secret),
        )
        sent = (n > 0).nonzero().squeeze(1)  # a row without a count has no weight
        client.append(torch.full_like(sent, k))
        label.append(sent)
        counts.append(n[sent])
        prototypes.append(p[sent])
    return Uploads(
        torch.cat(client),
        torch.cat(label),
        torch.cat(counts),
        torch.cat(prototypes),
        uploads.clients,
        uploads.classes,
        uploads.degree,  # depends on the edges alone, which are not protected
    )


def private_rows(
    sums: Tensor, counts: Tensor, width: Noise, mechanism: str, rng: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """What one client releases: prototypes (C, F) of norm 1 at most, counts (C) whole and ≥ 0.

    `sums` (C, F) and `counts` (C) cover every class, held or not: which classes a client holds is
    part of what is protected.
    """
    draw = rng.standard_normal if mechanism == "gaussian" else rng.laplace
    blur = torch.as_tensor(draw(size=len(counts)), device=counts.device)
    n = (counts + width.counts * blur).round().clamp_min(0)
    blur = torch.as_tensor(draw(size=tuple(sums.shape)), device=sums.device)
    p = (sums + width.sums * blur) / n.clamp_min(1)[:, None]
    p = p / p.norm(dim=1, keepdim=True).clamp_min(1)
    return p.to(sums.dtype), n.long()


def noise_generator(settings: Settings, client: int) -> np.random.Generator:
    """The noise of one simulated client. A real client must draw from a secret of its own:
    whoever knows the seed can subtract the noise.
    """
    return generator(settings.seed, f"privacy {settings.draw} {client}")


def noise(moved: float, features: int, settings: Settings) -> Noise:
    """The noise of a client whose sums move by at most `moved` (see `sensitivity`).

    Gaussian: sums and counts are one release, so (Δ/σ)² of both add up to μ²(ε, δ). Laplace: their
    ε add up. Another label moves the counts by √2 in L2 and by 2 in L1.
    """
    if settings.mechanism == "gaussian":
        mu = gaussian_mu(settings.epsilon, settings.delta)
        on_sums, on_counts = math.sqrt(1 - COUNT_SHARE), math.sqrt(COUNT_SHARE)
        return Noise(moved / (mu * on_sums), math.sqrt(2) / (mu * on_counts))
    on_sums, on_counts = 1 - COUNT_SHARE, COUNT_SHARE
    l1 = moved * math.sqrt(features)
    return Noise(l1 / (settings.epsilon * on_sums), 2 / (settings.epsilon * on_counts))


def sensitivity(partition: Partition, settings: Settings) -> Tensor:
    """How far one changed node can move a client's class sums, for every client, (K).

    Gaussian: the L2 norm of the move over all classes. Laplace: the sum over classes of the L2
    norms, to be multiplied by √F for L1. With m the node's influence and a the part of it that
    lies in other nodes' rows, other features move the sums by 2m, another label adds its own row
    to one class and takes it from another: √((2a + 1)² + 1), or 2a + 2 in sum.
    """
    m, labelled = influence(partition, settings), partition.graph.train
    a = (m - mixing(settings.alpha, settings.steps)[0]).clamp_min(0)  # a row's own share is ≥ w_0
    relabelled = ((2 * a + 1) ** 2 + 1).sqrt() if settings.mechanism == "gaussian" else 2 * a + 2
    moved = torch.where(labelled, torch.maximum(relabelled, 2 * m), 2 * m)
    zero = torch.zeros(partition.clients, dtype=m.dtype, device=m.device)
    return zero.scatter_reduce(0, partition.owner, moved, "amax")


def influence(partition: Partition, settings: Settings) -> Tensor:
    """How much of each node is in its client's sums, m_i = Σ_j Π_ji over labelled nodes j, (N).

    It depends on edges and on which nodes are labelled, never on features or labels. Where edges
    go both ways it is at most (1 - α) + α max(1, (degree + 1) / 2), whatever T is.
    """
    labelled = partition.graph.train.to(torch.float32)[:, None]
    if settings.alpha == 0 or settings.steps == 0:
        return labelled.squeeze(1)
    mass = propagate(partition.operator_t, labelled, settings.alpha, settings.steps)
    return mass.squeeze(1)
