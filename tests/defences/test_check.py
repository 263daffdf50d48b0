"""What the server believes: nothing that cannot be true, whatever a client sends."""

import math
from functools import lru_cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spear_core import Settings, classify, estimate
from spear_core.client import Uploads, upload
from spear_core.defences import DEFENCES
from spear_core.defences.check import LARGEST_COUNT, LONGEST, check, check_one, join
from spear_core.partition import Partition
from tests.conftest import random_graph

CLASSES, FEATURES, HONEST, HOSTILE = 4, 6, 4, 20  # of the tiny graph; 20 hostile clients beside
CLIENTS = HONEST + HOSTILE
GRAPH = random_graph(11, nodes=80)
SENT = upload(Partition(GRAPH, torch.arange(80) % HONEST, HONEST), Settings(clients=HONEST))
PARTS = tuple(
    check_one(
        k,
        SENT.label[SENT.client == k],
        SENT.counts[SENT.client == k],
        SENT.prototypes[SENT.client == k],
        CLIENTS,
        CLASSES,
        FEATURES,
    )[0]
    for k in range(HONEST)
)
DEFENCE = st.sampled_from(tuple(DEFENCES))
UNIT = np.eye(FEATURES, dtype=np.float32)


def uploads(client, label, counts, prototypes):
    """Uploads from lists: three clients, two classes, two features."""
    parts = (torch.tensor(part) for part in (client, label, counts))
    return Uploads(*parts, torch.tensor(prototypes), clients=3, classes=2)


def arrived(labels, counts, prototypes, client=HONEST):
    return check_one(client, labels, counts, prototypes, CLIENTS, CLASSES, FEATURES)


# one reason at a time --------------------------------------------------------------------------
def test_what_our_own_clients_send_passes_as_it_is():
    assert check(SENT) == (SENT, ())
    plain = SENT.replace()
    kept, rejected = check(plain)
    assert kept is plain
    assert rejected == ()
    together = join(PARTS)
    for name in ("client", "label", "counts", "prototypes"):
        assert torch.equal(getattr(together, name), getattr(SENT, name))


@pytest.mark.parametrize(
    ("client", "label", "count", "prototype", "reason"),
    [
        (3, 0, 1, [1.0, 0.0], "there is no such client"),
        (-1, 0, 1, [1.0, 0.0], "there is no such client"),
        (1, 2, 1, [1.0, 0.0], "there is no such class"),
        (1, -1, 1, [1.0, 0.0], "there is no such class"),
        (1, 0, -1, [1.0, 0.0], "its count is negative"),
        (1, 0, 1.5, [1.0, 0.0], "its count is not a whole number"),
        (1, 0, math.nan, [1.0, 0.0], "its count is not a whole number"),
        (1, 0, math.inf, [1.0, 0.0], "its count is not a whole number"),
        (1, 0, 2**31, [1.0, 0.0], "its count does not fit into 32 bits"),
        (1, 0, 1, [math.nan, 0.0], "its prototype is not finite"),
        (1, 0, 1, [0.0, -math.inf], "its prototype is not finite"),
        (1, 0, 1, [1.0, 0.01], "its prototype is longer than 1"),
        (1, 0, 1, [3e38, 3e38], "its prototype is longer than 1"),
        (0, 1, 1, [1.0, 0.0], "it sent this class more than once"),
    ],
)
def test_a_row_that_cannot_be_true_is_dropped_with_its_reason(
    client, label, count, prototype, reason
):
    good = ([0, 2], [1, 0], [3, 4], [[0.6, 0.8], [0.0, 1.0]])
    bad = (client, label, count, prototype)
    kept, rejected = check(uploads(*([*g, b] for g, b in zip(good, bad, strict=True))))
    told = {(one.client, one.label, one.reason) for one in rejected}
    assert (client, label, reason) in told
    twice = reason.startswith("it sent")
    assert len(rejected) == (2 if twice else 1)  # of two that contradict each other neither counts
    assert kept.client.tolist() == ([2] if twice else [0, 2])
    assert kept.counts.tolist() == ([4] if twice else [3, 4])
    assert kept.counts.dtype == torch.int64


def test_a_sentence_names_client_class_and_reason():
    _, (row,) = check(uploads([1], [0], [-2], [[1.0, 0.0]]))
    assert row.sentence == "Dropped from client 1, class 0: its count is negative."
    _, (whole,) = arrived([0], [1], UNIT[:1, :3])
    assert whole.sentence == (
        "Dropped from client 4, everything: its prototypes have the shape (1, 3), not (1, 6)."
    )


def test_rounding_may_make_a_row_a_little_longer_than_one():
    kept, rejected = check(uploads([1], [0], [2], [[1.000009, 0.0]]))
    assert len(kept.client) == 1
    assert rejected == ()


def test_a_count_of_zero_has_no_weight_and_no_reproach():
    kept, rejected = check(uploads([0, 1], [0, 0], [0, 2], [[1.0, 0.0], [0.0, 1.0]]))
    assert kept.client.tolist() == [1]
    assert rejected == ()
    nothing, _ = check(uploads([0], [0], [0], [[1.0, 0.0]]))
    for gamma in (0.0, 0.5, math.inf):
        assert not estimate(nothing, Settings(gamma=gamma)).prototypes.isnan().any()


@pytest.mark.parametrize(
    ("labels", "counts", "prototypes", "reason"),
    [
        ("abc", [1], UNIT[:1], "its labels are not numbers"),
        (None, [1], UNIT[:1], "its labels are not numbers"),
        ([[0], [0, 1]], [1], UNIT[:1], "its labels are not numbers"),
        ([True], [1], UNIT[:1], "its labels are not numbers"),
        ([10**400], [1], UNIT[:1], "its labels are not numbers"),
        (0, [1], UNIT[:1], "its labels have the shape (), not ('any',)"),
        ([0], [[1]], UNIT[:1], "its counts have the shape (1, 1), not (1,)"),
        ([0], [1 + 1j], UNIT[:1], "its counts are not numbers"),
        ([0], [1], UNIT[0], "its prototypes have the shape (6,), not (1, 6)"),
        ([0], [1], torch.ones(1, 6).to_sparse(), "its prototypes are not numbers"),
        ([0, 1], [1, 1], UNIT[:1], "its prototypes have the shape (1, 6), not (2, 6)"),
        ([0, 1, 2, 3, 0], [1] * 5, UNIT[:5], "5 rows for 4 classes"),
    ],
)
def test_an_upload_of_another_form_is_dropped_whole(labels, counts, prototypes, reason):
    kept, rejected = arrived(labels, counts, prototypes)
    assert len(kept.client) == 0
    assert [(one.client, one.label, one.reason) for one in rejected] == [(HONEST, None, reason)]


def test_a_client_that_nobody_knows_is_dropped_whole():
    _, (one,) = arrived([0], [1], UNIT[:1], client=CLIENTS)
    assert one.reason == "clients are 0 to 23"


def test_numbers_of_another_type_are_taken_for_what_they_are():
    kept, rejected = arrived(np.array([2.0]), np.array([7], np.uint64), UNIT[:1].astype(np.float16))
    assert rejected == ()
    assert (kept.label.tolist(), kept.counts.tolist()) == ([2], [7])
    assert kept.prototypes.dtype == torch.float32


# ten thousand hostile uploads ------------------------------------------------------------------
@pytest.fixture(scope="module")
def _one_thread():
    """Threads only get into each other's way on a graph of 80 nodes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


NUMBERS = st.one_of(
    st.integers(-3, 9),
    st.sampled_from([2**31 - 1, 2**31, 2**63 - 1, -(2**63), 10**400, -1, 0, 1]),
    st.sampled_from([math.nan, math.inf, -math.inf, 0.5, -0.0, 1e300, 5e-324]),
)
ANYTHING = st.one_of(
    st.lists(NUMBERS, max_size=5),
    st.lists(st.integers(0, CLASSES - 1), min_size=1, max_size=4),
    st.sampled_from([None, "abc", b"\x00", {}, [[1], [2, 3]], True, 7, [None], [[]], object()]),
)
VECTORS = st.builds(
    lambda rows, width, value, place, kind: _vectors(rows, width, value, place, kind),
    st.integers(0, 5),
    st.sampled_from([FEATURES, FEATURES, FEATURES, 0, 1, FEATURES + 1]),
    st.sampled_from([0.0, 0.3, -0.9, 1.0, 1.1, math.nan, math.inf, -math.inf, 1e38, 1e300]),
    st.integers(0, 40),
    st.sampled_from([np.float32, np.float64, np.float16, np.int8, np.complex64, object, bool]),
)


def _vectors(rows, width, value, place, kind):
    """Rows along the axes with one value of choice somewhere, in some type."""
    out = np.zeros((rows, width))
    out[:, : min(width, 1)] = 0.4
    if out.size:
        out.flat[place % out.size] = value
    with np.errstate(all="ignore"):
        return out.astype(kind)


def served(parts, chosen):
    """What the server makes of these uploads."""
    found = estimate(join(parts), chosen, GRAPH)
    return found, classify(GRAPH, found, chosen, every_node=True)


def sound(found, predicted):
    """No NaN anywhere, unit or zero prototypes, a class for every node."""
    length = found.prototypes.norm(dim=1)
    assert bool(((length - 1).abs() < 1e-5).logical_or(length == 0).all())
    assert not bool(predicted.scores.isnan().any())
    assert not bool(found.weights.isnan().any())
    assert not bool(found.shrunk.isnan().any())
    assert int(predicted.labels.min()) >= 0
    assert int(predicted.labels.max()) < CLASSES


@pytest.mark.slow
@pytest.mark.usefixtures("_one_thread")
@settings(max_examples=250)
@given(
    st.lists(
        st.tuples(ANYTHING, ANYTHING, st.one_of(VECTORS, VECTORS, ANYTHING)),
        min_size=HOSTILE,
        max_size=HOSTILE,
    ),
    st.sampled_from([0.0, 0.5, math.inf]),
    DEFENCE,
)
def test_whatever_is_sent_the_server_gives_a_sound_result(hostile, gamma, defence):
    chosen = Settings(clients=CLIENTS, gamma=gamma, defence=defence)
    parts = list(PARTS)
    for k, sent in enumerate(hostile):
        kept, rejected = arrived(*sent, client=HONEST + k)
        assert bool((kept.client == HONEST + k).all())
        assert all(one.client == HONEST + k for one in rejected)
        assert len(set(kept.label.tolist())) == len(kept.label)
        assert all(0 <= c < CLASSES for c in kept.label.tolist())
        assert all(0 < n <= LARGEST_COUNT for n in kept.counts.tolist())
        assert bool((kept.prototypes.double().norm(dim=1) <= LONGEST).all())
        parts.append(kept)
    sound(*served(parts, chosen))
    if all(len(part.client) == 0 for part in parts[HONEST:]):
        same_as_without_them(parts, chosen)


BREAKS = {  # each makes a sound upload impossible; `i` is the row, `v` the value it is given
    "class": (lambda y, n, p, i, v: (_put(y, i, v), n, p), [-1, CLASSES, 0.5, math.nan, 1e300]),
    "count": (lambda y, n, p, i, v: (y, _put(n, i, v), p), [-1, 0.5, 2**31, math.nan, math.inf]),
    "entry": (lambda y, n, p, i, v: (y, n, _put(p, (i, 2), v)), [1.1, -2, math.nan, -math.inf]),
    "width": (lambda y, n, p, i, v: (y, n, p[:, :v]), [0, 1, FEATURES - 1]),
    "length": (lambda y, n, p, i, v: (y, n[:v], p), [0]),
    "type": (lambda y, n, p, i, v: (y, n, p.astype(v)), [complex, bool, object, "U8"]),
    "shape": (lambda y, n, p, i, v: (y, n, p[None] if v else p[0]), [0, 1]),
    "twice": (lambda y, n, p, i, v: (np.full(2, v), [n[0]] * 2, p[[0, 0]]), [0, CLASSES - 1]),
}


def _put(array, place, value):
    out = np.array(array, dtype=np.float64)
    out[place] = value
    return out


@st.composite
def impossible(draw):
    """One upload of a single row, broken in one way."""
    change, values = BREAKS[draw(st.sampled_from(sorted(BREAKS)))]
    label, count = draw(st.integers(0, CLASSES - 1)), draw(st.integers(1, LARGEST_COUNT))
    row = UNIT[[draw(st.integers(0, 1))]]
    return change(np.array([label]), np.array([count]), row, 0, draw(st.sampled_from(values)))


@lru_cache
def honest(chosen):
    return served(PARTS, chosen)


def same_as_without_them(parts, chosen):
    mine, theirs = served(parts, chosen), honest(chosen)
    assert torch.equal(mine[0].prototypes, theirs[0].prototypes)
    assert torch.equal(mine[1].scores, theirs[1].scores)
    assert torch.equal(mine[1].labels, theirs[1].labels)


@pytest.mark.slow
@pytest.mark.usefixtures("_one_thread")
@settings(max_examples=250)
@given(st.lists(impossible(), min_size=HOSTILE, max_size=HOSTILE), DEFENCE)
def test_impossible_uploads_change_nothing_for_the_honest(hostile, defence):
    parts = list(PARTS)
    for k, sent in enumerate(hostile):
        kept, rejected = arrived(*sent, client=HONEST + k)
        assert len(kept.client) == 0
        assert rejected
        parts.append(kept)
    same_as_without_them(parts, Settings(clients=CLIENTS, defence=defence))
