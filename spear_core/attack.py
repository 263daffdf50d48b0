"""Clients that lie: who they are, their labels (Partition → Partition), their uploads."""

from spear_core.client import Uploads
from spear_core.partition import Partition
from spear_core.settings import Settings


def attackers(partition: Partition, settings: Settings) -> tuple[int, ...]:
    """The clients that lie, by number; nobody by default."""
    return ()


def poison(partition: Partition, settings: Settings, liars: tuple[int, ...]) -> Partition:
    """The partition with the training labels of the liars flipped; itself without liars."""
    return partition


def forge(uploads: Uploads, settings: Settings, liars: tuple[int, ...]) -> Uploads:
    """The uploads with what the liars forge in theirs; themselves without liars."""
    return uploads
