"""The global prototypes as one .npz of plain arrays."""

import io

import numpy as np

from spear_core.run import Result


def prototypes_npz(result: Result) -> bytes:
    """Unit prototypes (C, F), whether anybody held the class, the classes' and features' names."""
    graph, made = result.graph, result.estimate
    out = io.BytesIO()
    words = graph.extra.lines("words")
    np.savez_compressed(
        out,
        prototypes=made.prototypes.cpu().numpy(),
        seen=made.seen.cpu().numpy(),
        classes=np.array(graph.names, dtype=np.str_),
        features=np.array(words, dtype=np.str_),
    )
    return out.getvalue()
