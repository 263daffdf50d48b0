"""What a link may ask for: a sentence before anything is read, and what is usual stays allowed."""

import pytest

from pages.parts import beyond_views, sensitivity_sweeps
from pages.shared import link, runs
from spear_core import Settings, load
from spear_core.datasets import CATALOGUE, store
from spear_core.errors import SettingError
from tests import fuzz

WIDE = {"dataset": "synthetic", "nodes": "10000", "features": "2000", "classes": "100"}
CS, CROWD = {"dataset": "Coauthor-CS"}, {"dataset": "Coauthor-CS", "clients": "1000"}
RIDGE = {"head": "ridge", "sketch": "64"}
CROWD_OF_IT = {"dataset": "Coauthor-CS", "clients": 1000}
LIARS = {"attacker_count": "1000", "forge": "random"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (CROWD | {"epsilon": "1"}, "use at most 195 clients"),
        (WIDE | {"clients": "1000", "epsilon": "1"}, "use at most 100 clients"),
        (CROWD | RIDGE, "A sketch of rank 64 of 1,000 clients takes 490 million numbers here"),
        (CROWD | RIDGE, "use a lower rank of it or at most 40 clients"),
        (CS | {"clients": "1", "head": "ridge", "sketch": "inf"}, "use a rank of 64 or less"),
        (CROWD | {"head": "ridge", "sketch": "inf"}, "use a rank of 64 or less"),
        (CS | {"clients": "150", "head": "ridge", "epsilon": "1"}, "use head = cosine"),
        (CROWD | {"defence": "median", "peers": "semantic"}, "The defence median of 1,000"),
        (CROWD | LIARS | {"defence": "geometric"}, "use at most 489 clients"),
        (CROWD | {"peers": "semantic"}, "Looking for semantic peers of 1,000 clients"),
    ],
)
def test_what_would_keep_everybody_waiting_is_left_out(query, words):
    values, notes = link.parse(query)
    assert values["dataset"] == "digits"
    assert len(notes) == 1
    assert words in notes[0]
    assert link.unpin(",".join(f"{k}:{v}" for k, v in query.items()))[0] is None


@pytest.mark.parametrize(
    "query",
    [
        *(CS | {"clients": "10", "head": "ridge", "sketch": rank} for rank in ("0", "64", "inf")),
        CS | {"clients": "100", "head": "ridge", "sketch": "8"},
        CS | {"clients": "195", "epsilon": "1"},
        WIDE | {"clients": "100", "epsilon": "1"},
        CROWD,
        CS | {"clients": "400", "defence": "median", "peers": "semantic"},
        {"dataset": "Cora", "clients": "1000", "epsilon": "1", "defence": "geometric"},
    ],
)
def test_what_is_usual_stays_allowed(query):
    assert link.parse(query)[1] == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_recipes_of_the_pages_are_allowed_on_every_graph(name):
    for changes in ({}, {"epsilon": 1.0}, {"defence": "consensus"}, {"head": "ridge"}):
        assert link.affordable(Settings(dataset=name, **changes))
    for rank in (8.0, 64.0):
        assert link.affordable(Settings(dataset=name, head="ridge", sketch=rank))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (beyond_views.clean(Settings(**CROWD_OF_IT)), "A sketch of rank 8 of 1,000 clients"),
        (Settings(**CROWD_OF_IT, defence="krum"), "use at most 489 clients"),
        (Settings(**CROWD_OF_IT, epsilon=1.0), "use at most 195 clients"),
    ],
)
def test_what_a_page_makes_of_a_link_is_bounded_too(settings, words):
    """Beyond adds a sketch, Attack tries every defence, Sensitivity takes other datasets."""
    for run_it in (runs.result_or_stop, runs.result_of, runs.accuracy_of):
        with pytest.raises(SettingError, match=words):
            run_it(settings)


def test_sweeps_go_no_further_than_pages():
    if not at_hand(CATALOGUE["Coauthor-CS"]):
        pytest.skip("Coauthor-CS is not in SPEAR_DATA")
    wide = Settings(dataset="Coauthor-CS", head="ridge", sketch=64)
    assert sensitivity_sweeps.values(wide, "clients") == (1, 2, 5, 10, 20)
    usual = sensitivity_sweeps.values(Settings(), "clients")
    assert usual == sensitivity_sweeps.KNOBS["clients"]
    crowd = Settings(clients=1000, epsilon=1.0)
    with pytest.raises(SettingError, match="Privacy noise on every class sum"):
        sensitivity_sweeps.table(crowd, ("alpha",), ("Coauthor-CS",))


def test_dozens_of_runs_are_made_unasked_where_one_is_quick():
    assert runs.quick(runs.result_of(Settings()))
    if not at_hand(CATALOGUE["Actor"]):
        pytest.skip("Actor is not in SPEAR_DATA")
    few, many = (Settings(dataset="Actor", beta=10.0, clients=k) for k in (10, 1000))
    assert runs.quick(runs.result_of(few))
    assert not runs.quick(runs.result_of(many))  # all defences would take a minute
    wide = load(Settings(dataset="synthetic", nodes=100, features=2000, classes=40))
    assert runs.long(wide, Settings(clients=200))
    assert not runs.long(wide, Settings())
    assert runs.long(wide, Settings(clients=100, head="ridge", sketch=64))


def at_hand(entry):
    folder = store.data_folder()
    return bool(folder) and not store.missing(entry, folder)


def test_every_graph_on_offer_has_its_sizes():
    entries = [entry for entry in CATALOGUE.values() if entry.name != "synthetic"]
    assert all(min(entry.nodes, entry.classes, entry.features) > 0 for entry in entries)


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "synthetic"])
def test_sizes_are_those_of_the_graph(name):
    entry = CATALOGUE[name]
    if not entry.builtin and not at_hand(entry):  # some of the catalogue are nowhere at hand
        pytest.skip(f"{name} is not in SPEAR_DATA")
    graph = load(Settings(dataset=name, clients=entry.clients))
    sizes = (entry.nodes, entry.classes, entry.features)
    assert (graph.num_nodes, graph.classes, graph.num_features) == sizes


def test_links_with_several_knobs_at_their_limits_are_drawn():
    paths = fuzz.drawn(2000, seed=15)
    assert sum("clients=1000" in path and "sketch=64" in path for path in paths) > 5
