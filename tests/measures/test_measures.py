"""Measures against scikit-learn, against the explicit way, and by hand."""

import math
import sys
from dataclasses import replace

import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, silhouette_score

from spear_core import Partition, Settings, make_graph, run, run_on
from spear_core.explicit import run_explicit
from spear_core.measures.silhouette import silhouette
from tests.conftest import need, random_graph


def with_random_graph(seed, **changes):
    partition = Partition(random_graph(seed), torch.arange(40) % 4, 4)
    s = Settings(clients=4, **changes)
    return run_on(partition, s), run_explicit(partition, s)


@pytest.mark.slow
@pytest.mark.parametrize("dataset", ["digits", "synthetic"])
@pytest.mark.parametrize(("alpha", "steps"), [(0.0, 0), (0.15, 2), (0.9, 5)])
def test_silhouette_equals_scikit_learn(dataset, alpha, steps):
    result = run(Settings(dataset=dataset, alpha=alpha, steps=steps))
    test = result.prediction.nodes
    z, y = result.z[test].double().numpy(), result.graph.y[test].numpy()
    assert result.metrics.silhouette_smoothed == pytest.approx(
        silhouette_score(z, y, metric="cosine"), abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CiteSeer", "Texas"])
def test_silhouette_with_zero_rows_and_rare_classes(name):
    need(name)
    result = run(Settings(dataset=name))
    test = result.prediction.nodes
    y = result.graph.y[test].numpy()
    for ours, z in (
        (result.metrics.silhouette_raw, result.graph.features.to_dense()[test]),
        (result.metrics.silhouette_smoothed, result.z[test]),
    ):
        theirs = silhouette_score(z.double().numpy(), y, metric="cosine")
        assert ours == pytest.approx(theirs, abs=1e-6)


def test_silhouette_of_a_class_of_one_is_zero():
    x = torch.tensor([[1.0, 0], [1, 0.1], [0, 1]])
    everyone = torch.ones(3, dtype=torch.bool)
    none = torch.empty(2, 0, dtype=torch.int64)
    graph = make_graph(x, none, torch.tensor([0, 0, 1]), everyone, test=everyone)
    theirs = silhouette_score(x.numpy(), graph.y.numpy(), metric="cosine")
    assert silhouette(graph, 0.0, 0) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_silhouette_of_nearly_parallel_nodes_stays_in_range(noise):
    torch.manual_seed(0)
    x = torch.rand(1, 20).expand(60, 20) + noise * torch.rand(60, 20)
    everyone = torch.ones(60, dtype=torch.bool)
    ring = torch.stack([torch.arange(60), (torch.arange(60) + 1) % 60])
    graph = make_graph(x, ring, torch.arange(60) % 3, everyone, test=everyone)
    for alpha, steps in ((0.0, 0), (0.9, 3), (0.95, 10)):
        assert -1 <= silhouette(graph, alpha, steps) <= 1
    if noise == 0:
        assert silhouette(graph, 0.0, 0) == 0


def test_norms_are_the_same_for_few_and_for_many_steps(monkeypatch):
    graph = run(Settings(dataset="digits")).graph
    few = silhouette(graph, 0.6, 4)
    monkeypatch.setattr(sys.modules[silhouette.__module__], "FEW_STEPS", 0)
    assert silhouette(graph, 0.6, 4) == pytest.approx(few, abs=1e-6)


def test_silhouette_of_a_single_class_is_empty():
    everyone = torch.ones(3, dtype=torch.bool)
    none = torch.empty(2, 0, dtype=torch.int64)
    graph = make_graph(torch.rand(3, 2), none, torch.tensor([0, 0, 0]), everyone, test=everyone)
    assert silhouette(graph, 0.0, 0) is None


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_scikit_learn(seed):
    result, _ = with_random_graph(seed)
    y, predicted = result.graph.y.numpy(), result.prediction.labels.numpy()
    assert result.metrics.accuracy == pytest.approx(accuracy_score(y, predicted))
    assert result.metrics.macro_f1 == pytest.approx(f1_score(y, predicted, average="macro"))
    assert result.metrics.confusion.sum() == 40


@pytest.mark.parametrize("seed", range(5))
def test_prototype_errors_against_the_explicit_way(seed):
    result, plain = with_random_graph(seed)

    def far(a, b):
        return 1 - torch.nn.functional.cosine_similarity(a, b, dim=-1)

    local, mean, spear = [], [], []
    for c in plain.label.unique():
        centroid = plain.z[result.graph.y == c].mean(0)
        rows = plain.local[plain.label == c]
        local.append(far(rows, centroid).mean())
        mean.append(far(rows.mean(0), centroid))
        spear.append(far(plain.prototypes[c], centroid))
    for ours, theirs in zip(
        (result.metrics.error_local, result.metrics.error_mean, result.metrics.error_spear),
        (local, mean, spear),
        strict=True,
    ):
        assert ours == pytest.approx(torch.stack(theirs).mean().item(), abs=1e-5)


def test_bytes_are_what_is_sent():
    result = run(Settings(dataset="digits"))
    up, m = result.uploads, result.metrics
    sent = (up.prototypes, up.label.int(), up.counts.int())
    assert m.bytes_up_total == sum(t.numel() * t.element_size() for t in sent)
    assert m.bytes_up_per_client == m.bytes_up_total / 10
    assert sum(m.client_bytes_up) == m.bytes_up_total
    assert m.bytes_up_prototypes == up.prototypes.numel() * 4 / 10
    assert m.bytes_down_per_client == 10 * (64 * 4 + 4)
    assert m.bytes_down_total == 10 * m.bytes_down_per_client


def test_homophily_by_hand(five):
    # of the 8 directed edges only 2-3 and 3-2 join two classes
    result = run_on(Partition(five, torch.tensor([0, 0, 1, 1, 1]), 3), Settings(clients=3))
    assert result.metrics.homophily == 0.75
    # inside client 0: 0-1 alike; inside client 1: 2-3 not, 3-4 alike; client 2 has no edge
    assert result.metrics.client_homophily == [1.0, 0.5, None]


def test_empty_classes_are_null_never_nan():
    graph = random_graph(1)
    graph = graph.replace(test=graph.y != 0)
    metrics = run_on(Partition(graph, torch.arange(40) % 4, 4), Settings(clients=4)).metrics
    assert metrics.class_accuracy[0] is None
    for name, value in metrics.to_dict().items():
        assert value is None or math.isfinite(value), name


def test_no_test_node_at_all():
    graph = random_graph(1)
    graph = graph.replace(test=torch.zeros(40, dtype=torch.bool))
    metrics = run_on(Partition(graph, torch.arange(40) % 4, 4), Settings(clients=4)).metrics
    assert metrics.accuracy is None
    assert metrics.macro_f1 is None
    assert metrics.silhouette_smoothed is None
    assert metrics.error_spear is None
    assert metrics.error_spear_all is not None


@pytest.mark.parametrize(
    ("name", "mib"), [("Cora", 2814.5), ("CiteSeer", 7246.1), ("PubMed", 984.4)]
)
def test_fedavg_by_formula(name, mib):
    need(name)
    sent = run(Settings(dataset=name)).metrics.fedavg_bytes()
    assert sent / 2**20 == pytest.approx(mib, abs=0.05)


def test_bytes_are_those_of_what_was_sent_also_where_the_server_drops_some():
    lied = Settings(dataset="karate", clients=3, attackers="chosen", chosen="1", beta=10.0)
    plain, dropped = run(lied).metrics, run(replace(lied, defence="oracle")).metrics
    assert dropped.bytes_up_total == plain.bytes_up_total
    assert len(dropped.estimate.uploads.client) < len(dropped.sent.client)
