"""Nothing assumes the CPU: every tensor is created on the device of the run."""

import pytest
import torch
from torch.overrides import TorchFunctionMode

from spear_core import Settings, SpearError, grid, run
from spear_core.datasets import _base, _load
from spear_core.device import pick_device

FACTORIES = {
    getattr(torch, name)
    for name in (
        *("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "tensor", "as_tensor"),
        *("rand", "randn", "randint", "randperm", "sparse_csr_tensor", "sparse_coo_tensor"),
    )
}


class DeviceIsNamed(TorchFunctionMode):
    """Fails on a call that makes a tensor without saying where."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in FACTORIES and (kwargs or {}).get("device") is None:
            raise AssertionError(f"{func.__name__} was called without device=")
        return func(*args, **(kwargs or {}))


def test_the_mode_can_fail():
    with DeviceIsNamed(), pytest.raises(AssertionError, match="zeros"):
        torch.zeros(1)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["digits", "karate", "synthetic"])
@pytest.mark.parametrize("partition", ["dirichlet", "iid", "louvain"])
def test_every_factory_names_its_device(dataset, partition):
    _load.clear()
    _base.clear()
    with DeviceIsNamed():
        for extra in ({}, {"peers": "semantic", "reliability": "degree"}):
            s = Settings(dataset=dataset, partition=partition, clients=3, **extra)
            result = run(s)
            result.metrics.to_dict()
            assert result.estimate.shrunk.shape == result.uploads.prototypes.shape
            assert result.z.shape == (result.graph.num_nodes, result.graph.num_features)
            assert len(result.every_prediction.labels) == result.graph.num_nodes
            assert isinstance(result.notes, tuple)
            grid(s, [0.1, 0.5], [0.5], [1, 2])


def test_auto_takes_what_is_there():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert pick_device("auto")[0].type == expected


def test_cuda_that_is_missing_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    with pytest.raises(SpearError, match="use device auto or cpu"):
        run(Settings(device="cuda"))


def test_mps_without_sparse_products_falls_back_with_a_sentence():
    if torch.backends.mps.is_available():
        pytest.skip("there is an MPS device here")
    result = run(Settings(device="mps", dataset="karate", clients=3))
    assert result.graph.device.type == "cpu"
    assert any("the run was made on the CPU" in note for note in result.notes)
