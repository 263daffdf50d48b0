"""What a client sends: one mean of smoothed features a class (a prototype) and its count."""

import math
from dataclasses import replace

from spear_core.client.residuals import Residuals
from spear_core.client.sketch import residuals_of
from spear_core.client.sums import Sums
from spear_core.client.uploads import LARGEST_COUNT, Uploads
from spear_core.lance.gate import Mix, client_smoothing
from spear_core.partition import Partition
from spear_core.settings import Settings

__all__ = ["LARGEST_COUNT", "Residuals", "Sums", "Uploads", "unsmoothed", "upload"]


def upload(partition: Partition, settings: Settings) -> Uploads:
    """Every client's prototypes and counts, from its own subgraph and its own training nodes.

    The clients' work is done here: the class indicator is propagated, or was before. For the ridge
    head they add their energy and a sketch of the residuals; private ones send no sketch.
    """
    alpha, steps, mix = client_smoothing(partition, settings)
    sent = unsmoothed(partition, alpha, steps, settings.reliability == "degree", mix)
    source = sent.source
    assert source is not None
    if settings.head == "cosine":
        return replace(sent, source=source.done())
    private = settings.epsilon < math.inf  # noise is calibrated to the energy itself
    rank = 0.0 if private else settings.sketch
    rest, rows = residuals_of(source, rank, settings.sketch_cap, settings.seed, private)
    source = source.done() if rows is None else source
    return replace(sent, rows=rows, residuals=rest, source=source)


def unsmoothed(
    partition: Partition, alpha: float, steps: int, degree: bool, mix: Mix | None = None
) -> Uploads:
    """The uploads before any work is done for them."""
    client, label = partition.pairs
    counts = partition.train_counts[client, label]
    own = partition.degree if degree else None
    source = Sums(partition, alpha, steps, mix)
    return Uploads(
        client, label, counts, None, partition.clients, partition.graph.classes, own, source
    )
