"""The oracle: it knows who lies and leaves them out. A yardstick, since nobody knows that."""

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from spear_core.client import Uploads


def oracle(uploads: "Uploads", liars: tuple[int, ...]) -> "Uploads":
    """The uploads of the clients that do not lie."""
    client = uploads.client
    lying = torch.tensor(liars, dtype=client.dtype, device=client.device)
    return uploads.keep(~torch.isin(client, lying))
