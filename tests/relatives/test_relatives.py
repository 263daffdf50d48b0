"""The training-free relatives: small cases on paper, and what must hold whoever has the rows."""

import math
from dataclasses import replace

import pytest
import torch

from spear_core import Partition, Settings, load, run, split
from spear_core.explicit import dense_features, smooth
from spear_core.relatives import RELATIVES, answer, answer_on
from spear_core.relatives.heads import fedcgs, lda, naive_bayes
from spear_core.relatives.rows import added, floats_of, smoothed_rows, sums_of
from spear_core.relatives.spread import adjacency, label_propagation, tfgnn
from spear_core.settings import PAPER_SEEDS
from tests.conftest import need, random_graph

THREE = torch.arange(40) % 3
SETTINGS = Settings(alpha=0.3, steps=2)


def data(rows: int = 30, width: int = 6, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    z = torch.rand(rows, width, generator=rng, dtype=torch.float64)
    return z, torch.arange(rows) % classes


def sent_by(z, y, owner, classes: int = 3):
    parts = [(z[owner == k], y[owner == k]) for k in range(int(owner.max()) + 1)]
    return [sums_of(rows, label, classes, scatter=True, squares=True) for rows, label in parts]


def whole(z, y, classes: int = 3):
    return added([sums_of(z, y, classes, scatter=True, squares=True)])


def test_rows_are_those_that_spear_takes_the_means_of():
    partition = Partition(random_graph(1), THREE, 3)
    rows = smoothed_rows(partition, SETTINGS)
    x = dense_features(partition.graph)
    at = 0
    for k in range(3):
        nodes, place = partition.nodes_of(k), {}
        place = {int(n): i for i, n in enumerate(nodes)}
        inside = [
            (place[int(i)], place[int(j)])
            for i, j in partition.graph.edge_index.t()
            if int(i) in place and int(j) in place
        ]
        z = smooth(x[nodes], torch.tensor(inside).t().reshape(2, -1), 0.3, 2)
        mine = z[partition.graph.train[nodes]]
        torch.testing.assert_close(rows.z[at : at + len(mine)], mine, atol=1e-6, rtol=0)
        assert bool((rows.owner[at : at + len(mine)] == k).all())
        at += len(mine)
    assert at == len(rows.z)


@pytest.mark.parametrize("width", [6, 50])  # more rows than features, and fewer
@pytest.mark.parametrize("head", [fedcgs, lda, naive_bayes])
def test_the_split_does_not_matter(head, width):
    z, y = data(width=width)
    one, many = head(whole(z, y)), head(added(sent_by(z, y, torch.arange(30) % 4)))
    torch.testing.assert_close(one.w, many.w, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(one.b, many.b, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("width", [6, 50])
def test_fedcgs_and_lda_by_their_formulas(width):
    z, y = data(width=width)
    means = torch.stack([z[y == c].mean(0) for c in range(3)])
    cov, eye = torch.cov(z.t()), torch.eye(width, dtype=z.dtype)
    w = torch.linalg.solve(cov + 1e-3 * eye, means.t())
    made = fedcgs(whole(z, y))
    torch.testing.assert_close(made.w, w, rtol=1e-6, atol=1e-6)
    prior = torch.log(torch.full((3,), 1 / 3, dtype=z.dtype))
    torch.testing.assert_close(made.b, prior - 0.5 * (means * w.t()).sum(1), rtol=1e-6, atol=1e-6)
    rest = z - means[y]
    s = rest.t() @ rest / (30 - 3)
    s = 0.95 * s + (0.05 * s.trace() / width + 1e-6) * eye
    w = torch.linalg.solve(s, means.t())
    torch.testing.assert_close(lda(whole(z, y)).w, w, rtol=1e-6, atol=1e-6)


def test_lda_shrunk_to_the_end_is_the_nearest_mean_of_equal_classes():
    z, y = data()
    head = lda(whole(z, y), shrink=1.0)
    means = torch.stack([z[y == c].mean(0) for c in range(3)])
    assert torch.equal((z @ head.w + head.b).argmax(1), torch.cdist(z, means).argmin(1))


def test_naive_bayes_is_the_density_of_a_normal():
    z, y = data()
    head = naive_bayes(whole(z, y))
    got = z.square() @ head.q + z @ head.w + head.b
    for c in range(3):
        mine = z[y == c]
        normal = torch.distributions.Normal(mine.mean(0), mine.std(0, correction=0))
        want = normal.log_prob(z).sum(1) + 0.5 * 6 * math.log(2 * math.pi) + math.log(1 / 3)
        torch.testing.assert_close(got[:, c], want)


def test_afl_merges_to_the_sum_that_fed3r_solves():
    """Local solutions, each with γ, are merged pair by pair; Kγ is taken off at the end."""
    z, y = data()
    onehot = torch.nn.functional.one_hot(y, 3).double()
    eye, k = torch.eye(6, dtype=z.dtype), 3
    owner = torch.arange(30) % k
    c, w = None, None
    for i in range(k):
        mine = owner == i
        c_k = z[mine].t() @ z[mine] + eye
        w_k = torch.linalg.solve(c_k, z[mine].t() @ onehot[mine])
        if c is None:
            c, w = c_k, w_k
        else:
            w, c = torch.linalg.solve(c + c_k, c @ w + c_k @ w_k), c + c_k
    afl = torch.linalg.solve(c - k * eye, c @ w)
    pooled = torch.linalg.solve(z.t() @ z, z.t() @ onehot)
    torch.testing.assert_close(afl, pooled, rtol=1e-9, atol=1e-9)


def test_ridge_of_many_clients_is_that_of_one():
    """Without smoothing, which stays inside a client, only the sum over clients is left."""
    graph, s = random_graph(2), Settings(alpha=0.0, steps=0)
    many = answer_on("ridge", Partition(graph, THREE, 3), s)
    one = answer_on("ridge", Partition(graph, torch.zeros(40).long(), 1), s)
    torch.testing.assert_close(many.scores, one.scores, atol=1e-5, rtol=0)


def test_a_message_holds_what_is_sent_and_no_absent_class():
    z, y = data(rows=4, width=20, classes=3)  # fewer rows than features: the rows, turned
    assert floats_of(sums_of(z, y % 2, 3, True, False)) == 2 * 21 + 4 * 20
    z, y = data(rows=30)
    assert floats_of(sums_of(z, y, 3, True, False)) == 3 * 7 + 6 * 7 // 2
    assert floats_of(sums_of(z, y, 3, False, True)) == 3 * (2 * 6 + 1)


def test_labels_on_the_path_by_hand(five):
    """0 - 1 - 2 - 3 - 4, all but node 2 labelled: one step of the mean of its neighbours."""
    assert tfgnn(five, 1)[2].tolist() == [0.5, 0.5]
    assert tfgnn(five, 1)[0].tolist() == [1, 0]
    a = adjacency(five, 0.5).to_dense()
    assert float(a[0, 1]) == pytest.approx(1 / math.sqrt(2))
    assert float(a[1, 2]) == pytest.approx(1 / 2)
    once = label_propagation(five, 0.9, 1)
    assert once[2].tolist() == pytest.approx([0.45, 0.45])
    assert once[0].tolist() == pytest.approx([0.1 + 0.9 / math.sqrt(2), 0])


@pytest.mark.parametrize("name", RELATIVES)
def test_an_absent_class_never_wins_and_an_empty_client_is_no_trouble(name):
    graph = random_graph(3)
    held = graph.replace(train=graph.train & (graph.y != 2))
    owner = torch.where(held.train, torch.arange(40) % 2, 2)  # the last one trains nothing
    got = answer_on(name, Partition(held, owner, 4), SETTINGS)
    assert got.scores.shape == (40, 4)
    assert bool((got.scores[:, 2] == -math.inf).all())
    assert not bool(got.scores.isnan().any())
    assert got.bytes_up > 0


@pytest.mark.parametrize("name", RELATIVES)
def test_each_does_well_where_it_is_easy(name):
    s = Settings(dataset="karate", clients=3, alpha=0.5)
    got, graph = answer(name, s), load(s)
    right = got.scores.argmax(1)[graph.test] == graph.y[graph.test]
    assert float(right.double().mean()) > 0.6


def test_labels_alone_weigh_eight_bytes_a_node():
    partition = split(load(Settings(dataset="karate", clients=3)), Settings(clients=3))
    labelled = int(partition.graph.train.sum())
    got = answer_on("lp", partition, Settings(dataset="karate", clients=3))
    assert (got.bytes_up, got.bytes_down) == (8 * labelled, 0)


EXPECTED = {  # α 0.15, T 2, five seeds, to the last digit; ridge has a penalty of its own
    "fedcgs": 64.10,
    "lda": 62.44,
    "nb": 53.98,
    "lp": 71.30,
    "tfgnn": 59.90,
}


def test_figures_on_cora():
    need("Cora")
    base = Settings(dataset="Cora")
    graph = load(base)
    for name, want in EXPECTED.items():
        hits = []
        for seed in PAPER_SEEDS:
            got = answer(name, replace(base, seed=seed))
            right = got.scores.argmax(1)[graph.test] == graph.y[graph.test]
            hits.append(100 * float(right.double().mean()))
        assert sum(hits) / 5 == pytest.approx(want, abs=0.05), name
    assert answer("ridge", base).bytes_up / 1024 == pytest.approx(784, abs=1)


def test_ridge_is_ours_with_all_a_sketch_can_hold():
    s = Settings(dataset="karate", clients=3)
    ours = run(replace(s, head="ridge", sketch=math.inf, sketch_cap=False))
    torch.testing.assert_close(answer("ridge", s).scores.float(), ours.every_prediction.scores)
