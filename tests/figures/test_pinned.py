"""A pinned setting on every chart: the same graph beside it, another graph without a crash."""

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from spear_core import Settings, embed, figures, run
from spear_core.figures import split as split_figures
from spear_core.figures.map import map_figure
from spear_core.figures.map.pinned import with_pinned
from tests.apptest import charts, live
from tests.browser import ROOT


def karate(**changes):
    return run(Settings(**{"dataset": "karate", "clients": 3, **changes}))


# -- figures


def test_each_cell_of_the_weights_holds_now_and_pinned():
    now, then = karate(), karate(gamma=5.0)
    heat = figures.weights(now, pinned=then).data[0]
    held = now.partition.train_counts > 0
    for row, run_ in ((0, now), (1, then)):
        z = torch.as_tensor(heat.z[row::3])
        assert torch.equal(~z.isnan(), held)
        assert torch.equal(z[held], run_.estimate.weights[held].double())
    assert np.isnan(heat.z[2::3]).all()  # between clients
    k, c = (now.partition.train_counts == 4).nonzero()[0].tolist()
    assert heat.customdata[3 * k][c].endswith("n = 4, λ = 0.33<br>pinned: n = 4, λ = 0.05")


def test_more_clients_when_pinned_than_now():
    figure = figures.weights(karate(), pinned=karate(clients=5))
    assert len(figure.data[0].z) == 3 * 5
    assert "no such client" in figure.data[0].customdata[3 * 4][0]
    assert len(figure.data[1].x) == len(karate().uploads.label)  # only what is there now is clicked


def test_many_clients_stand_beside_each_other():
    now, then = run(Settings(clients=30, beta=1.0)), run(Settings())
    z = figures.weights(now, pinned=then).data[0].z
    assert z.shape == (30, 21)
    assert np.isnan(z[10:, 11:]).all()
    assert np.isnan(z[:, 10]).all()
    assert np.nansum(z[:10, 11:]) == pytest.approx(
        float(then.estimate.weights[then.partition.train_counts > 0].sum())
    )


def test_the_confusion_is_a_change_of_shares():
    now, then = run(Settings(gamma=0.0)), run(Settings())
    heat = figures.confusion(now, then).data[0]
    assert heat.zmin == -heat.zmax
    np.testing.assert_allclose(heat.z.sum(axis=1), 0, atol=1e-9)  # nodes only change columns
    moved = (now.metrics.confusion - then.metrics.confusion)[7, 7]
    assert heat.text[7][7] == f"{now.metrics.confusion[7, 7]}<br>{moved:+d}"
    same = figures.confusion(then, then).data[0]
    assert not same.z.any()
    assert not any("<br>" in text for text in same.text.ravel())


def test_edges_cut_in_one_split_only():
    now, then = karate(), karate(beta=10.0)
    traces = {trace.name: trace for trace in split_figures.small_graph(now, then).data}

    def edges(name):
        return sum(x is None for x in traces[name].x)

    source, target = now.graph.edge_index[:, now.graph.edge_index[0] < now.graph.edge_index[1]]
    cut = [r.partition.owner[source] != r.partition.owner[target] for r in (now, then)]
    assert edges("cut now, not when pinned") == int((cut[0] & ~cut[1]).sum()) > 0
    assert edges("cut when pinned, not now") == int((~cut[0] & cut[1]).sum()) > 0
    assert edges("cut edge") == int((cut[0] & cut[1]).sum())


def test_outlines_on_the_map_lie_where_the_pinned_run_puts_them():
    now, then = karate(), karate(alpha=0.9)
    shown = embed.preview(now.graph, now.settings.alpha, now.settings.steps)
    figure = with_pinned(map_figure(shown, now), shown, now, then)
    names = [trace.name for trace in figure.data]
    alone = {trace.name: trace for trace in map_figure(shown, then).data}
    outlines = [t for t in figure.data if t.name == "pinned" and t.mode == "markers"]
    np.testing.assert_array_equal(outlines[0].x, alone["local"].x)
    np.testing.assert_array_equal(outlines[1].x, alone["global"].x)
    assert all(symbol.endswith("open-dot") for symbol in (t.marker.symbol for t in outlines))
    assert names.index("pinned") < names.index("local")  # a click finds the present prototype
    assert all(trace.customdata is None for trace in outlines)
    assert sum(bool(t.showlegend) for t in figure.data if t.name == "pinned") == 1
    only = with_pinned(map_figure(shown, now, show="global"), shown, now, then, "global")
    assert [t.marker.symbol for t in only.data if t.name == "pinned" and t.mode == "markers"] == [
        "star-open-dot",
        "diamond-open-dot",  # of the legend
    ]


# -- pages

EVERY = {  # page -> its charts that show a pinned run on the same graph
    "explore": {"strip", "weights", "silhouettes"},
    "split": {"split_holdings", "split_sizes", "split_homophily", "split_small"},
    "smooth": {"smooth_similar", "smooth_makers", "smooth_curve_chart", "smooth_by_homophily"},
    "shrink": {"lambda", "errors", "over-gamma"},
}
VIEWS = {
    ("explore", "Confusion"): {"confusion", "class_accuracy"},
    ("explore", "Prototypes"): {"pictures"},
    ("explore", "Time and bytes"): {"traffic"},
    ("shrink", "What carries the gain"): {"ablation"},
    ("shrink", "Does the model hold"): {"over-n", "peer-variance"},
}


def opened(page, **query):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    if page != "explore":
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert not app.error
    return app


def compared(app):
    """The charts in which something is said of the pinned run."""
    return {key for key, figure in charts(app).items() if "pinned" in str(figure)}


def said(app):
    return next(c.value for c in app.caption if "Pinned:" in c.value)


@pytest.mark.slow
@pytest.mark.parametrize("page", EVERY)
def test_every_chart_compares_a_setting_of_the_same_graph(page):
    app = opened(page, pin="beta:0.3,gamma:5", alpha="0.3")
    assert EVERY[page] <= compared(app)
    assert "β = 0.3 (now 0.05)" in said(app)
    if page == "explore":
        assert "another one" in said(app)  # the split
        assert "A, pinned" in str(live(app)["map_a"])
    for (where, view), keys in VIEWS.items():
        if where == page:
            app.session_state["view" if page == "explore" else "shrink"] = view
            app.run()
            assert not app.exception
            assert keys <= compared(app), view


@pytest.mark.slow
@pytest.mark.parametrize("page", EVERY)
@pytest.mark.parametrize("pin", ["default", "dataset:synthetic,nodes:300,classes:12"])
def test_a_setting_of_another_graph_is_left_out_where_it_makes_no_sense(page, pin):
    app = opened(page, dataset="karate", clients="3", pin=pin)
    keys = compared(app)
    by_class = {"weights", "confusion", "class_accuracy", "errors", "split_holdings"}
    assert not keys & (by_class | {"split_small", "smooth_similar"})
    assert "another graph" in said(app)
    if page == "explore":
        assert "strip" in keys  # an accuracy is an accuracy
        assert "map_a" not in live(app)


@pytest.mark.slow
@pytest.mark.parametrize("page", EVERY)
def test_a_pin_that_cannot_be_run_is_one_sentence(page, monkeypatch, tmp_path):
    monkeypatch.setenv("SPEAR_DATA", str(tmp_path))
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path / "cache"))
    app = opened(page, dataset="karate", clients="3", pin="dataset:Squirrel")
    assert "Squirrel is not on disk" in said(app)
    app = opened(page, dataset="karate", clients="3", pin="dataset:karate,clients:50")
    assert "clients must be at most the number of nodes" in said(app)
    assert not compared(app)
