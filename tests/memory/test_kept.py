"""What is kept beside an object: made once, shared while it holds, counted, dropped."""

import threading
from dataclasses import replace

import pytest
import torch

from spear_core import Settings, classify, estimate, load, run, run_on, split, upload
from spear_core.classify import MANY
from spear_core.client import sums
from spear_core.measures.silhouette import row_products
from spear_core.memory.kept import Kept
from spear_core.memory.sizes import bytes_of, tensors_in
from tests.conftest import random_graph

X, Y = frozenset({"x"}), frozenset({"y"})


def test_a_copy_shares_what_still_holds_whoever_makes_it_first():
    first, second = Kept(), Kept()
    second.share(first, changed=frozenset({"y"}))
    made = second.get("sum", X, object)
    assert first.get("sum", X, object) is made
    assert first.get("labels", Y, object) is not second.get("labels", Y, object)


def test_only_the_newest_of_a_kind_are_kept():
    kept = Kept()
    for steps in range(4):
        kept.put(("mass", steps), X, steps, most=2)
    kept.put("other", X, 7)
    assert [kept.peek(("mass", steps), X) for steps in range(4)] == [None, None, 2, 3]
    kept.drop("mass", X)
    assert kept.peek(("mass", 3), X) is None
    assert kept.peek("other", X) == 7


def test_several_threads_make_a_thing_once():
    kept, made, gate = Kept(), [], threading.Barrier(8)

    def make():
        made.append(1)
        return torch.zeros(3)

    def ask():
        gate.wait()
        kept.get("thing", X, make)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_who_wants_another_thing_does_not_wait():
    """Each of two threads is done only when the other has begun."""
    kept, both = Kept(), threading.Barrier(2)

    def ask(name):
        kept.get(name, X, lambda: both.wait(600))

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not both.broken


def test_bytes_are_counted_once():
    graph = random_graph(1)
    before = bytes_of(graph)
    graph.operator  # noqa: B018
    operator = 12 * (len(graph.operator.values()) + 1) + 4 * graph.num_nodes
    assert before < bytes_of(graph) <= before + 2 * operator
    assert bytes_of(graph, graph) == bytes_of(graph)
    graph.kept.clear()
    assert bytes_of(graph) == before


@pytest.mark.parametrize("change", ["x", "y", "train", "test", "edge_index"])
def test_a_changed_graph_gives_what_a_new_one_gives(change):
    """Nothing stale: a copy of a used graph runs like one that was never used."""
    settings, used, other = Settings(clients=3, beta=1.0), random_graph(3), random_graph(4)
    run(settings, used).metrics.to_dict()
    changed = used.replace(**{change: getattr(other, change)})
    fresh = replace(used, **{change: getattr(other, change)})
    a, b = run(settings, changed), run(settings, fresh)
    assert torch.equal(a.prediction.labels, b.prediction.labels)
    assert a.metrics.to_dict() == pytest.approx(b.metrics.to_dict(), nan_ok=True)


def test_a_partition_of_another_graph_keeps_what_does_not_depend_on_it():
    graph = random_graph(5)
    part = split(graph, Settings(clients=3, beta=1.0))
    relabelled = part.replace(graph=graph.replace(y=graph.y.flip(0)))
    assert relabelled.operator_t is part.operator_t
    assert relabelled.sizes is part.sizes
    assert not torch.equal(relabelled.counts, part.counts)
    rewired = part.replace(graph=graph.replace(edge_index=graph.edge_index[:, ::2]))
    assert rewired.operator_t is not part.operator_t
    assert rewired.train_counts is part.train_counts


def test_a_changed_partition_gives_what_a_new_one_gives():
    settings = Settings(clients=3, beta=1.0)
    part = split(random_graph(5), settings)
    operator = part.operator_t
    run_on(part, settings).metrics.to_dict()
    assert part.replace(redraws=7).operator_t is operator
    for changes in ({"owner": part.owner.flip(0)}, {"clients": 5}, {"graph": random_graph(6)}):
        changed, fresh = part.replace(**changes), replace(part, **changes)
        asked = replace(settings, clients=changed.clients)
        a, b = run_on(changed, asked), run_on(fresh, asked)
        assert torch.equal(changed.counts, fresh.counts)
        assert torch.equal(changed.sizes, fresh.sizes)
        assert torch.equal(a.prediction.labels, b.prediction.labels)
        assert a.metrics.to_dict() == pytest.approx(b.metrics.to_dict(), nan_ok=True)


def test_dense_features_have_no_copy_in_float64():
    graph = random_graph(1).replace(x=torch.rand(40, 6)).warm()
    assert graph.features.layout == torch.strided
    assert all(t.dtype != torch.float64 for t in tensors_in(graph.kept))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("most", [MANY // 2, 10**6], ids=["few nodes", "many"])
@pytest.mark.parametrize(("changed", "as_class"), [(3, 7), (7, 3)])
def test_the_prediction_is_that_of_the_prototypes_at_ties_too(changed, as_class, most, in_place):
    """Two classes get the same prototype: the first of them wins, whatever the clients sent."""
    settings = Settings(dataset="digits")
    graph = load(settings)
    of_both = graph.test & torch.isin(graph.y, torch.tensor([3, 7]))
    result = run(settings, graph.replace(test=of_both & (of_both.cumsum(0) <= most)))
    made = result.estimate
    if not in_place:
        made = replace(made, prototypes=made.prototypes.clone())
    made.prototypes[changed] = made.prototypes[as_class]
    said = classify(result.graph, made, settings)
    assert not bool((said.labels == 7).any())
    assert bool((said.labels == 3).any())


def test_visitors_ask_for_row_products_of_several_lengths_at_once():
    graph, failed = random_graph(2), []

    def ask(steps):
        try:
            for _ in range(30):
                graph.kept.drop("row_products", frozenset({"x", "edge_index", "nodes", "test"}))
                assert row_products(graph, steps).shape[1] == steps + 1
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(steps,)) for steps in (2, 4, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_the_clients_work_is_done_by_the_clients(monkeypatch):
    """`upload` propagates: for the server, and whoever reads the rows, nothing is left to do."""
    settings, graph = Settings(clients=3, beta=1.0, alpha=0.9, steps=20), random_graph(6)
    want = estimate(upload(split(random_graph(6), settings), settings), settings).prototypes
    sent = upload(split(graph, settings), settings)
    monkeypatch.setattr(sums, "propagate_blocks", None)
    assert torch.equal(estimate(sent, settings).prototypes, want)
    assert sent.prototypes.isfinite().all()


def test_the_seconds_say_what_the_clients_work_costs_also_where_it_was_done_before():
    graph, settings = random_graph(6), Settings(clients=3, beta=1.0, alpha=0.9, steps=20)
    first, second = run(settings, graph), run(settings, graph)
    assert first.reused == 0
    assert 0 < second.reused < first.seconds["upload"]
    assert second.seconds["upload"] > second.reused
    assert second.spent_seconds == second.method_seconds - second.reused
    first.sent.source.prepare(20, lambda: None)
    third = run(settings, graph)
    assert third.sent.source.ready
    assert third.seconds["upload"] > third.reused > 0


def test_class_means_far_out_take_one_propagation():
    far, near = Settings(clients=3, alpha=0.99, steps=1000), Settings(clients=3, alpha=0.99)
    graph = random_graph(7)
    means = run(far, graph).metrics.centroids
    assert len([t for t in tensors_in(graph.kept) if t.shape == means.shape]) == 0
    want = torch.zeros_like(means)
    z, nodes = run(far, graph).z, graph.test_nodes
    for c in range(graph.classes):
        want[c] = z[nodes[graph.y[nodes] == c]].mean(0)
    torch.testing.assert_close(means, want, atol=1e-5, rtol=0)
    assert run(near, graph).metrics.centroids.shape == means.shape
