"""`spear data add`, the list and remove, and what everything else makes of such a dataset."""

import json

import numpy as np
import pytest
import torch

from spear_core import Settings, load, run
from spear_core.cli import main
from spear_core.datasets import mine
from spear_core.federation.files import read_client
from tests.own import tables


@pytest.fixture
def files(cache, tmp_path):
    """Digits as two tables."""
    return tables.write(tmp_path, load(Settings()))


def add(files, *more):
    edges, nodes = map(str, files)
    return main(["data", "add", "mine", "--edges", edges, "--nodes", nodes, *more])


def test_add_list_run_and_remove(files, capsys):
    assert add(files, "--directed") == 0
    assert "mine is a dataset now" in capsys.readouterr().out
    assert main(["data"]) == 0
    assert "mine              your own, 1,797 nodes" in capsys.readouterr().out
    found = []
    for name in ("mine", "digits"):
        assert main(["run", "--dataset", name, "--seeds", "42,0", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out))
    for measure in ("accuracy", "macro_f1", "silhouette_raw", "homophily", "bytes_up_total"):
        assert found[0][measure] == found[1][measure]
    assert add(files) == 2
    assert "There is a dataset mine already" in capsys.readouterr().err
    assert main(["data", "remove", "mine"]) == 0
    assert main(["run", "--dataset", "mine"]) == 2
    assert "to be added on this machine first" in capsys.readouterr().err
    assert main(["data", "remove", "digits"]) == 2


def test_a_dry_run_keeps_nothing(files, capsys):
    assert add(files, "--dry-run") == 0
    assert "Nothing was kept" in capsys.readouterr().out
    assert mine.entries() == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data", "add"], "data add NAME"),
        (["data", "Cora", "--edges", "e.csv"], "is for a graph of your own"),
        (["data", "add", "../x"], "cannot be the name"),
        (["data", "add", "mine"], "needs a list of edges"),
        (["data", "add", "mine", "--folder", "/nowhere"], "There is no folder /nowhere"),
        (["data", "add", "mine", "--draw-split", "0%"], "must be a share"),
        (["data", "add", "mine", "--no-features", "all"], "must be one of identity"),
        (["data", "remove", "mine"], "There is no graph of your own named 'mine'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(cache, capsys, words, said):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_its_clients_have_files_with_equal_results(files, tmp_path, capsys):
    add(files, "--directed")
    out = tmp_path / "clients"
    assert main(["export-client", "--dataset", "mine", "--client", "all", "--out", str(out)]) == 0
    held = run(Settings(dataset="digits")).held
    for k in (0, 9):
        mine_now = read_client(out / f"client-{k}.npz")
        assert np.array_equal(mine_now.y.numpy(), held.graph.y[held.nodes_of(k)].numpy())
        x = held.graph.x[held.nodes_of(k)]
        assert torch.equal(mine_now.x.to_dense(), x.to_dense() if x.is_sparse else x)
