"""The picture of the message: what it holds is what the run sent, and nothing leaves it."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from spear_core import Settings, run
from spear_core.figures.message import message, places
from spear_core.measures.spread import human_bytes
from tests.conftest import need

DIGITS = Settings(dataset="digits")


def drawn(result):
    return ElementTree.fromstring(message(result))


def of(tree, kind):
    return [part for part in tree.iter() if kind in part.get("class", "").split()]


@pytest.mark.parametrize("change", [{}, {"clients": 1}, {"beta": 10.0}, {"gamma": 0.0}])
def test_one_ring_a_client_and_one_diamond_an_upload(change):
    result = run(replace(DIGITS, **change))
    tree = drawn(result)
    assert len(of(tree, "client")) == len(of(tree, "ring")) == result.partition.clients
    keys = [part.get("data-key") for part in of(tree, "upload")]
    assert keys == [f"u{client}-{label}" for client, label in result.sent.pairs]
    assert len(of(tree, "star")) == result.graph.classes


def test_counts_and_bytes_are_those_of_the_run():
    result = run(DIGITS)
    (foot,) = of(drawn(result), "foot")
    said = "".join(foot.itertext())
    assert "10 clients" in said
    assert f"{len(result.sent.client)} ◆, {human_bytes(result.metrics.bytes_up_total)}" in said


def test_a_ring_is_the_share_of_the_classes():
    result = run(replace(DIGITS, beta=0.5))
    counts = result.partition.counts
    for ring, held in zip(of(drawn(result), "ring"), counts, strict=True):
        shares = [float(arc.get("stroke-dasharray").split()[0]) for arc in ring]
        known = [100 * n / held.sum().item() for n in held.tolist()]
        assert shares == pytest.approx([share for share in known if share >= 0.5], abs=0.06)


def test_area_is_the_nodes():
    result = run(replace(DIGITS, beta=0.5))
    sizes = result.partition.sizes.tolist()
    areas = [one.radius**2 for one in places.scene(result).senders]
    assert areas == pytest.approx([max(areas) * n / max(sizes) for n in sizes], rel=1e-6)


def test_a_prototype_is_drawn_where_its_peers_pull_it():
    free = places.scene(run(replace(DIGITS, beta=0.5, gamma="inf"))).uploads
    assert all(one.sent == one.pulled for one in free)
    pulled = places.scene(run(replace(DIGITS, beta=0.5, gamma=0.0))).uploads
    assert any(one.sent != one.pulled for one in pulled)


@pytest.mark.parametrize("clients", [200, 1000])
def test_many_clients_are_the_largest_and_the_rest_in_a_word(clients):
    result = run(replace(DIGITS, clients=clients, beta=1.0))
    tree = drawn(result)
    shown = [int(part.get("data-key")[1:]) for part in of(tree, "client")]
    sizes = result.partition.sizes.tolist()
    assert len(shown) == places.MOST_CLIENTS - 1
    assert min(sizes[k] for k in shown) == sorted(sizes)[-len(shown)]
    (others,) = of(tree, "others")
    assert f"+ {clients - len(shown)}" in "".join(others.itertext())


def test_too_many_uploads_are_the_largest_and_it_says_so():
    s = Settings(dataset="synthetic", nodes=3000, classes=30, clients=10, beta=100.0)
    result = run(s)
    tree = drawn(result)
    assert len(of(tree, "upload")) == places.MOST_UPLOADS < len(result.sent.client)
    assert f"({places.MOST_UPLOADS} drawn)" in "".join(of(tree, "foot")[0].itertext())


def test_who_lies_is_outlined_and_what_is_dropped_is_pale():
    result = run(replace(DIGITS, attacker_count=2, forge="nan"))
    tree = drawn(result)
    liars = [part.get("data-key") for part in of(tree, "client") if of(part, "liar")]
    assert liars == [f"k{k}" for k in sorted(result.attackers)]
    assert len(of(tree, "dropped")) == len(result.rejected) > 0


def test_it_stands_by_itself():
    picture = message(run(replace(DIGITS, beta=10.0)))
    assert picture._repr_svg_() == picture
    assert re.findall(r"https?://[^\"]*", picture) == ["http://www.w3.org/2000/svg"]
    for word in ("<script", "<image", "url(", "href", "@import", "<animate", "onload"):
        assert word not in picture
    assert "prefers-reduced-motion" in picture
    assert len(picture.encode()) < 60_000


def test_names_are_text():
    need("Cora")
    result = run(Settings(dataset="Cora"))
    names = ("<b>&", *result.graph.names[1:])
    odd = replace(result.partition, graph=replace(result.graph, class_names=names))
    said = "".join(drawn(replace(result, partition=odd)).itertext())
    assert "<b>&" in said
    assert "Neural Netwo…" in said
