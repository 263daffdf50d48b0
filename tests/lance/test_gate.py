"""The gate: affinities against their definition, and who smooths how."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spear_core import Partition, Settings, grid, make_graph, run, run_on, upload
from spear_core.explicit import dense_features, run_explicit
from spear_core.lance import affinity as measured
from spear_core.lance import estimator_of, lance, spear
from spear_core.lance.affinity import affinity, client_affinity
from spear_core.lance.explicit import plain_affinity
from spear_core.lance.gate import at_test, client_smoothing
from spear_core.propagate import subgraph
from tests.conftest import random_graph

GATED = Settings(smoothing="gated", clients=3)


def parts(graph, clients, seed):
    owner = torch.randint(0, clients, (40,), generator=torch.Generator().manual_seed(seed))
    return Partition(graph, owner, clients)


def plain_of_clients(partition):
    graph, x = partition.graph, dense_features(partition.graph)
    for k in range(partition.clients):
        nodes = (partition.owner == k).nonzero().squeeze(1)
        edges = subgraph(graph.edge_index, nodes, graph.num_nodes)
        yield plain_affinity(x[nodes], edges), int((edges[0] != edges[1]).sum())


@given(seed=st.integers(0, 200), directed=st.booleans(), clients=st.sampled_from([1, 3, 90]))
def test_affinity_by_its_definition(seed, directed, clients):
    graph = random_graph(seed, directed)
    partition = parts(graph, clients, seed)
    plain = plain_affinity(dense_features(graph), graph.edge_index)
    assert affinity(graph).value.item() == pytest.approx(plain, abs=1e-6)
    ours = client_affinity(partition)
    values, amounts = zip(*plain_of_clients(partition), strict=True)
    assert ours.value.tolist() == pytest.approx(values, abs=1e-6)
    assert ours.edges.tolist() == list(amounts)
    assert not ours.error.any()


def test_sparse_and_dense_features_have_one_affinity():
    graph = random_graph(5)
    dense = graph.replace(x=graph.x.to_dense())
    sparse = graph.replace(x=dense.x.to_sparse_csr())
    assert affinity(sparse).value.item() == pytest.approx(affinity(dense).value.item(), abs=1e-6)
    both = [client_affinity(parts(g, 4, 0)).value for g in (sparse, dense)]
    assert torch.allclose(*both, atol=1e-6)


def test_a_few_edges_do_not_open_a_gate():
    """Three like neighbours among strangers are chance; ten times as many are not."""
    for copies, opened in ((1, False), (10, True)):
        nodes = 6 * copies
        x = torch.eye(nodes) + 0.0
        pairs = torch.arange(nodes).view(-1, 2)
        x[pairs[:, 1]] = 0.98 * x[pairs[:, 1]] + 0.16 * x[pairs[:, 0]]
        edge_index = torch.cat([pairs, pairs.flip(1)]).t()
        graph = make_graph(x, edge_index, torch.arange(nodes) % 2, torch.ones(nodes).bool())
        found = affinity(graph)
        assert found.value.item() > 0.07
        assert (at_test(graph, GATED).alpha == GATED.gate_alpha) == opened, found


def test_a_sample_says_its_error(monkeypatch):
    graph = random_graph(3, nodes=400)
    whole = affinity(graph).value.item()
    monkeypatch.setattr(measured, "MOST", 300)
    found = affinity(random_graph(3, nodes=400))
    assert 0 < found.error.item() < 0.1
    assert abs(found.value.item() - whole) < 5 * found.error.item()


def test_nothing_to_compare_is_no_affinity():
    none, two = torch.zeros(2, 0, dtype=torch.int64), torch.tensor([[0, 1], [1, 0]])
    y, train = torch.tensor([0, 1]), torch.tensor([True, True])
    assert affinity(make_graph(torch.eye(2), none, y, train)).value.item() == 0
    assert affinity(make_graph(torch.ones(2, 2), two, y, train)).value.item() == 0


@pytest.mark.parametrize("gate", [-1.0, 1.0])
def test_a_gate_that_all_pass_or_none_is_plain_smoothing(gate):
    partition = parts(random_graph(1), 3, 0)
    plain = replace(GATED, smoothing="fixed")
    plain = plain if gate == 1 else replace(plain, alpha=GATED.gate_alpha, steps=GATED.gate_steps)
    ours, theirs = run_on(partition, replace(GATED, gate=gate)), run_on(partition, plain)
    assert torch.equal(ours.prediction.scores, theirs.prediction.scores)
    assert torch.equal(ours.z, theirs.z)


@given(seed=st.integers(0, 100), gate=st.floats(-0.1, 0.1))
def test_each_client_smooths_as_its_own_affinity_says(seed, gate):
    partition = parts(random_graph(seed), 4, seed)
    s = replace(GATED, gate=gate, clients=4)
    ours = upload(partition, s)
    below = run_explicit(partition, s).local
    above = run_explicit(partition, replace(s, alpha=s.gate_alpha, steps=s.gate_steps)).local
    passed = [a * m / (m + 10) > gate for a, m in plain_of_clients(partition)]
    opened = torch.tensor(passed)[ours.client]
    assert torch.allclose(
        ours.prototypes.double(), torch.where(opened[:, None], above, below), atol=2e-6
    )


def test_inference_has_its_own_smoothing_if_it_is_told_one():
    graph = random_graph(2)
    s = Settings(test_alpha=0.5)
    assert at_test(graph, Settings()) == Settings()
    assert at_test(graph, s).alpha == 0.5
    assert at_test(graph, s).steps == s.steps
    partition = parts(graph, 3, 0)
    told, same = run_on(partition, replace(s, clients=3)), run_on(partition, Settings(clients=3))
    assert torch.equal(told.estimate.prototypes, same.estimate.prototypes)
    assert not torch.equal(told.prediction.scores, same.prediction.scores)


def test_a_private_client_does_not_look():
    partition = parts(random_graph(4), 3, 0)
    s = replace(GATED, gate=-1.0)
    assert client_smoothing(partition, s)[:2] == (0.8, 5)
    assert client_smoothing(partition, replace(s, epsilon=1.0)) == (0.15, 2, None)
    assert at_test(partition.graph, replace(s, epsilon=1.0)).alpha == 0.15


def test_grids_over_gated_runs_are_the_runs():
    graph = random_graph(7)
    for s in (replace(GATED, gate=0.0), Settings(clients=3, test_alpha=0.6)):
        whole = grid(s, [0.0, 0.4], [0.5], [0, 1, 2], graph=graph)
        for i, alpha in enumerate([0.0, 0.4]):
            for k, steps in enumerate([0, 1, 2]):
                one = run(replace(s, alpha=alpha, steps=steps), graph)
                assert torch.equal(whole.labels[i, 0, k], one.prediction.labels)


def test_names_of_estimators():
    assert estimator_of(Settings()) == "SPEAR"
    assert estimator_of(lance(Settings())) == "LANCE"
    assert estimator_of(Settings(smoothing="gated")) == "custom"
    assert spear(lance(Settings(alpha=0.3))) == Settings(alpha=0.3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"sketch": 1.5}, "sketch must be a whole number or inf"),
        ({"sketch": 65}, "sketch must be at most 64"),
        ({"test_alpha": -0.5}, "test_alpha must be at least 0"),
        ({"test_steps": -2}, "test_steps must be at least 0"),
        ({"head": "cos"}, "head must be one of cosine, ridge"),
        ({"ridge": 0}, "ridge must be above 0"),
    ],
)
def test_refused_in_one_sentence(values, words):
    with pytest.raises(ValueError, match=words):
        Settings(**values)
    assert Settings(sketch="inf", test_alpha=-1, test_steps=-1).sketch == math.inf


def test_other_features_open_other_gates():
    """What was smoothed is kept for these gates: the same edges with new features ask again."""
    partition = parts(random_graph(3), 4, 0)
    drawn = torch.Generator().manual_seed(1)
    x = torch.rand(partition.graph.x.shape, generator=drawn)
    seen = set()
    for one in (partition, partition.replace(graph=partition.graph.replace(x=x))):
        values = client_affinity(one).value
        s = replace(GATED, gate=0.0, clients=4)
        ours = upload(one, s)
        fresh = upload(Partition(one.graph.replace(x=one.graph.x), one.owner, 4), s)
        assert torch.equal(ours.source.mass, fresh.source.mass)
        seen.add(tuple((values > 0).tolist()))
    assert len(seen) == 2  # else nothing was tried
