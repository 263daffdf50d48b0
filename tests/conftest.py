"""What tests share: small graphs one can do on paper, and the real datasets where they are."""

import os

import pytest
import torch
from hypothesis import settings as hypothesis_settings

from spear_core import Graph, make_graph
from spear_core.datasets import CATALOGUE, store
from tests.report import (  # noqa: F401  pytest finds its hooks here
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_deselected,
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)

collect_ignore = ["apps"]  # scripts that tests run
hypothesis_settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
hypothesis_settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """Tests never touch the user's cache; parallel workers share one."""
    if "SPEAR_CACHE" not in os.environ:
        base = tmp_path_factory.getbasetemp()
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        os.environ["SPEAR_CACHE"] = str(shared / "spear-cache")


def need(name: str) -> None:
    """Skip, with the reason, a test whose dataset is not in $SPEAR_DATA; fail where it must be."""
    folder = store.data_folder()
    if folder and not store.missing(CATALOGUE[name], folder):
        return
    words = f"{name} is not in SPEAR_DATA"
    if os.environ.get("SPEAR_REQUIRE_DATA"):
        pytest.fail(words)
    pytest.skip(words)


@pytest.fixture
def five() -> Graph:
    """Five nodes on a path 0-1-2-3-4, two classes; nodes 0, 1, 3, 4 train, all are tested.

    Features point along the axes: nodes 0 to 2 to the right, 3 and 4 up.
    """
    path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    x = torch.tensor([[2.0, 0], [1, 0], [3, 0], [0, 1], [0, 5]])
    return make_graph(
        x=x,
        edge_index=torch.cat([path, path.flip(0)], dim=1),
        y=torch.tensor([0, 0, 0, 1, 1]),
        train=torch.tensor([True, True, False, True, True]),
        test=torch.ones(5, dtype=torch.bool),
        name="five",
    )


def random_graph(seed: int, directed: bool = False, nodes: int = 40, classes: int = 4) -> Graph:
    """A random graph with loops, isolated nodes and zero rows."""
    rng = torch.Generator().manual_seed(seed)
    edges = torch.randint(0, nodes - 2, (2, 3 * nodes), generator=rng)
    if not directed:
        edges = torch.cat([edges, edges.flip(0)], dim=1)
    x = torch.rand(nodes, 6, generator=rng)
    x = x * (torch.rand(nodes, 6, generator=rng) < 0.6)
    x[3] = 0
    y = torch.randint(0, classes, (nodes,), generator=rng)
    train = torch.rand(nodes, generator=rng) < 0.5
    train[0] = True
    return make_graph(x, edges, y, train, test=torch.ones(nodes, dtype=torch.bool), name="random")
