"""Two visitors at once: each keeps its own map and its own preparation.

Their pages are run in turns, since the test runner has one runtime for the process; what they have
under way in the background goes on at the same time.
"""

from streamlit.testing.v1 import AppTest

from pages.shared import runs
from tests.apptest import put, sound
from tests.browser import ROOT


def test_two_visitors_with_different_graphs_keep_map_and_preparation(monkeypatch):
    monkeypatch.setattr(runs, "SMALL", 100)  # as if these graphs were large: they are prepared
    sizes = (400, 500)

    def visit(nodes):
        app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
        for name, value in {"dataset": "synthetic", "nodes": str(nodes)}.items():
            app.query_params[name] = value
        return sound(app.run())

    apps = [visit(nodes) for nodes in sizes]
    for alpha in (0.3, 0.4):
        for app in apps:
            put(app, alpha=alpha)
    for app, nodes in zip(apps, sizes, strict=True):
        own = app.session_state["_background"]
        assert own.preparing.ended.wait(600)
        assert not own.preparing.cancelled
        assert own.preparing.error is None
        shown, result = own.placed
        assert shown.graph.num_nodes == result.graph.num_nodes == nodes
        alpha, steps = result.settings.alpha, result.settings.steps
        assert result.sent.source.powers.ready(alpha, steps)
