"""Uploads that the tests of the defences make by hand or at random."""

import numpy as np
import torch

from spear_core import Uploads


def sent(rows, clients=None, classes=None):
    """Uploads from (client, class, count, prototype) tuples."""
    client, label, counts, prototypes = zip(*rows, strict=True)
    return Uploads(
        torch.tensor(client),
        torch.tensor(label),
        torch.tensor(counts),
        torch.tensor(prototypes, dtype=torch.float32),
        clients or max(client) + 1,
        classes or max(label) + 1,
    )


def one_class(counts, prototypes=None):
    """Every client holds the one class."""
    prototypes = prototypes or [[1.0, 0.0]] * len(counts)
    pairs = zip(counts, prototypes, strict=True)
    return sent([(k, 0, n, p) for k, (n, p) in enumerate(pairs)])


def draw(seed, clients=6, classes=3, width=5, honest=True):
    """Random uploads: noisy class directions, some pairs missing, counts from 1 to 20."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(clients):
        for c in range(classes):
            if rng.random() < 0.7:
                centre = np.eye(classes, width)[c] if honest else rng.standard_normal(width)
                noisy = centre + 0.3 * rng.standard_normal(width)
                p = noisy / max(1.0, np.linalg.norm(noisy))
                rows.append((k, c, int(rng.integers(1, 20)), p.tolist()))
    rows = rows or [(0, 0, 1, [1.0] + [0.0] * (width - 1))]
    return sent(rows, clients, classes)
