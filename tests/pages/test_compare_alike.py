"""Compare sets like beside like: the same graph, split and labels for SPEAR and its rivals."""

import pytest

from pages.parts import compare_live
from spear_core import PAPER_SEEDS, Settings, load, powers, run, run_on
from spear_core.baselines.results import own, stored
from tests.apptest import charts, put, sound
from tests.apptest import printed as lines_print
from tests.pages.comparing import KARATE, karate, opened, said, store_two


def test_another_synthetic_graph_has_runs_of_its_own(cache):
    small = {"nodes": 60, "features": 8, "classes": 2, "clients": 3}
    shown = opened(dataset="synthetic", **{k: str(v) for k, v in small.items()})
    shown.select_slider(key="compare_rounds").set_value(5)
    sound(shown.button(key="compare_go").click().run())
    assert "No trained run is stored" not in said(shown)
    put(shown, homophily=0.05)
    assert "No trained run is stored" in said(shown)
    assert "compare-live" not in charts(shown)
    sound(shown.button(key="compare_go").click().run())
    assert "compare-live" in charts(shown)
    assert [row.settings.homophily for row in stored(own())] == [0.8, 0.05]


def test_another_split_has_runs_of_its_own(cache):
    store_two()
    assert "No trained run is stored" not in said(karate())
    for other in ({"partition": "iid"}, {"labels_per_class": "1"}):
        assert "No trained run is stored" in said(karate(**other))


def test_spear_is_as_clean_as_its_rivals(cache):
    """Noise, liars, a defence and privacy are left out, and one sentence says so."""
    page = karate(
        label_noise="0.5", attacker_count="1", inflate="100", defence="median", epsilon="1"
    )
    clean = [100 * run(Settings("karate", s, clients=3)).metrics.accuracy for s in PAPER_SEEDS]
    table = page.dataframe[0].value.set_index("method")
    assert table.loc["SPEAR", "accuracy, %"] == pytest.approx(sum(clean) / 5)
    (left,) = [block.value for block in page.markdown if "Left out, for" in block.value]
    for part in ("50 % of the training labels", "inflate counts", "coordinate median", "ε = 1"):
        assert part in left
    assert lines_print(page).startswith(f"{run(KARATE).metrics.accuracy} ")
    assert "Left out, for" not in said(karate())


def test_the_seconds_of_spear_are_of_a_run_that_finds_nothing_prepared(monkeypatch):
    settings = Settings("synthetic", nodes=61, features=8, classes=2, clients=3)
    graph = load(settings)

    def power(t, last):
        whole = graph.features if last is None else graph.operator @ last
        return whole, whole[graph.test_nodes]

    powers.tested_powers(graph).grow(settings.steps, power)
    assert powers.kept_z(graph, settings) is not None  # as a page leaves it, before the next click
    found = []

    def watched(partition, settings):
        found.append(powers.kept_z(partition.graph, settings))
        return run_on(partition, settings)

    monkeypatch.setattr(compare_live, "run_on", watched)
    compare_live.spear_once.clear()
    compare_live.spear_once(settings)
    assert found == [None, None, None]
