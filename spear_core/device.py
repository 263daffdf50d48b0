"""Which device to run on: one code path, the best device that can do sparse CSR products."""

from functools import lru_cache

import torch

from spear_core.errors import SettingError


@lru_cache(maxsize=8)
def pick_device(name: str) -> tuple[torch.device, tuple[str, ...]]:
    """The torch device for auto, cpu, cuda or mps, and a sentence where it is another one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu"), ()
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("There is no CUDA device here; use device auto or cpu.")
    if name == "mps" and not _sparse_works("mps"):
        note = "This device (mps) has no sparse CSR product, so the run was made on the CPU."
        return torch.device("cpu"), (note,)
    return torch.device(name), ()


def _sparse_works(name: str) -> bool:
    try:
        eye = torch.eye(2, device=name).to_sparse_csr()
        return (eye @ torch.ones(2, 1, device=name)).sum().item() == 2
    except (RuntimeError, NotImplementedError, AssertionError):
        return False
