"""Noise in what the clients hold: edges, features and labels. Partition → Partition."""

from spear_core.partition import Partition
from spear_core.settings import Settings


def perturb(partition: Partition, settings: Settings) -> Partition:
    """The partition with noisy edges, features and training labels; itself without noise."""
    return partition


def perturb_test(partition: Partition, settings: Settings) -> Partition:
    """The graph that is tested on: clean, unless `noise_test` makes it noisy too."""
    return partition
