"""Compare sets like beside like: the same graph, split and labels for SPEAR and its rivals."""

from spear_core.baselines.results import own, stored
from tests.apptest import put, sound
from tests.pages.comparing import charts, karate, opened, said, store_two


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
