"""Two visitors at once: each keeps its own map and its own preparation."""

from concurrent.futures import ThreadPoolExecutor

from streamlit.testing.v1 import AppTest

from pages.shared import runs
from tests.apptest import put, sound
from tests.browser import ROOT


def test_two_visitors_with_different_graphs_keep_map_and_preparation(monkeypatch):
    monkeypatch.setattr(runs, "SMALL", 100)  # as if these graphs were large: they are prepared
    sizes = (400, 500)

    def visit(nodes):
        app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        for name, value in {"dataset": "synthetic", "nodes": str(nodes)}.items():
            app.query_params[name] = value
        sound(app.run())
        return put(app, alpha=0.4)

    with ThreadPoolExecutor(2) as pool:
        apps = list(pool.map(visit, sizes))
    for app, nodes in zip(apps, sizes, strict=True):
        own = app.session_state["_background"]
        assert own.preparing.ended.wait(60)
        assert not own.preparing.cancelled
        assert own.preparing.error is None
        shown, result = own.placed
        assert shown.graph.num_nodes == result.graph.num_nodes == nodes
        alpha, steps = result.settings.alpha, result.settings.steps
        assert result.sent.source.powers.ready(alpha, steps)
