"""The explorer without a browser: its state, what a move does, errors, and what it leaves."""

import io
import json
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
import traitlets
from PIL import Image

from spear_core import Settings, SpearError, run
from spear_core.errors import LibraryMissing
from spear_core.widgets import Explorer, explore, live_map
from tests.browser import ROOT, eventually

KARATE = Settings(dataset="karate", clients=3, beta=0.5)


class Clock:
    """For `eventually`, where there is no tab."""

    def wait_for_timeout(self, milliseconds: int) -> None:
        threading.Event().wait(milliseconds / 1000)


@pytest.fixture
def shown():
    made = explore(KARATE)
    yield made
    made.close()


def slider(shown: Explorer, name: str):
    return shown._controls.by_name[name]


def test_its_result_is_that_of_a_run_with_its_settings(shown):
    assert shown.settings == KARATE == shown.result.settings
    assert shown.result.metrics.accuracy == run(KARATE).metrics.accuracy


def test_a_moved_slider_changes_settings_result_number_and_map(shown):
    seen = []
    shown.observe(lambda c: seen.append((c["name"], shown.settings.gamma)), ["settings", "result"])
    figure = shown._panels.map.drawing["figure"]
    slider(shown, "gamma").value = 10.0
    assert shown.settings == replace(KARATE, gamma=10.0) == shown.result.settings
    assert seen == [("result", 10.0), ("settings", 10.0)]
    now = run(replace(KARATE, gamma=10.0)).metrics.accuracy
    assert f"{100 * now:.1f} %" in shown._panels.number.value
    assert shown._panels.map.drawing["figure"] != figure


def test_settings_that_are_put_move_the_controls(shown):
    shown.settings = replace(KARATE, alpha=0.97, steps=30, beta=0.123, gamma=float("inf"), seed=7)
    values = {name: slider(shown, name).value for name in ("alpha", "steps", "beta", "seed")}
    assert values == {"alpha": 0.97, "steps": 30, "beta": 0.123, "seed": 7}
    assert slider(shown, "gamma").label == "∞"
    assert shown.result.settings == shown.settings


@pytest.mark.parametrize(
    ("name", "value", "change"),
    [
        ("clients", 4, {"clients": 4}),
        ("steps", 5, {"steps": 5}),
        ("attacker_count", 2, {"attacker_count": 2}),
        ("defence", "median", {"defence": "median"}),
        ("seed", 1, {"seed": 1}),
        ("estimator", "LANCE", {"smoothing": "gated", "head": "ridge", "sketch": 8.0}),
        ("dataset", "digits", {"dataset": "digits", "clients": 10}),
    ],
)
def test_every_control_moves_what_it_says(shown, name, value, change):
    slider(shown, name).value = value
    assert shown.settings == replace(KARATE, **change)
    assert shown.result.settings == shown.settings


def test_missing_data_is_one_sentence_and_nothing_is_lost(shown, data, offline):
    before, drawn = shown.result, shown._panels.map.drawing
    slider(shown, "dataset").value = "Cora"
    assert 'role="alert">Cora is not on disk' in shown._panels.wrong.value
    assert "Nothing was changed." in shown._panels.wrong.value
    assert slider(shown, "dataset").value == "karate"
    assert shown.result is before
    assert shown._panels.map.drawing is drawn
    with pytest.raises(SpearError, match="Cora is not on disk"):
        shown.settings = Settings(dataset="Cora")
    with pytest.raises(SpearError, match="Cora is not on disk"):
        explore(Settings(dataset="Cora"))
    assert shown.settings == KARATE
    slider(shown, "steps").value = 3
    assert shown._panels.wrong.value == ""


def test_a_notebook_shows_the_sentence_of_an_error_alone():
    from IPython.core.interactiveshell import InteractiveShell

    said = []
    shell = InteractiveShell.instance()
    shell._showtraceback = lambda kind, error, lines: said.extend(lines)
    shell.run_cell("from spear_core import Settings\nSettings(dataset='Corra')")
    InteractiveShell.clear_instance()
    assert len(said) == 1
    assert said[0].startswith("There is no dataset")


def test_a_node_and_a_prototype_can_be_chosen(shown):
    shown._panels.map._asked(None, {"kind": "pick", "customdata": {"node": 5}}, [])
    assert shown.selected == 5
    assert "Node 5: class" in shown._panels.card.value
    with pytest.raises(SpearError, match="no node 34 in karate; use 0 to 33"):
        shown.selected = 34
    shown._panels.map._asked(None, {"kind": "pick", "customdata": {"node": None}}, [])
    assert shown.selected is None
    assert shown._panels.card.value == ""
    up = shown.result.uploads
    cell = [int(up.client[0]), int(up.label[0])]
    shown._panels.weights._asked(None, {"kind": "pick", "customdata": cell}, [])
    assert "λ = 1/(1 + 0.5·" in shown._panels.weight.value
    shown._panels.map.hovered = 3
    assert shown.hovered == 3
    with pytest.raises(traitlets.TraitError):
        shown.result = run(KARATE)


def test_another_dataset_forgets_the_node(shown):
    shown.selected = 33
    shown.settings = Settings(dataset="digits")
    assert shown.selected is None


def test_the_newest_move_alone_is_finished(shown):
    for gamma in (0.1, 0.2, 0.3):
        slider(shown, "gamma").value = gamma
    eventually(Clock(), lambda: _has_spread(shown), 60)
    seeds = [run(replace(shown.settings, seed=s)).metrics.accuracy for s in (42, 0, 1, 2026, 2077)]
    assert f"{100 * sum(seeds) / 5:.1f}" in shown._panels.further.value
    assert "silhouette" in shown._panels.tight.value


def _has_spread(shown: Explorer) -> None:
    assert shown._panels.further.value
    assert "spear-stale" not in shown._panels.seeds._dom_classes
    assert "spear-stale" not in shown._panels.tightness._dom_classes


def test_a_graph_of_ones_own(five):
    made = explore(Settings(clients=2, beta=10.0), five)
    assert made.result.graph.name == "five"
    assert slider(made, "dataset").disabled
    slider(made, "gamma").value = 0.0
    assert made.result.graph.name == "five"
    made.close()


def test_it_leaves_a_picture_beside_the_widget(shown):
    bundle, look = shown._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"} == set(bundle)
    data, width, height = shown.still()
    picture = Image.open(io.BytesIO(data))
    assert picture.size == (2 * width, 2 * height)
    assert look["image/png"] == {"width": width, "height": height}
    assert len(picture.convert("RGB").getcolors(10**6)) > 20
    assert len(data) < 300_000
    assert shown.still()[0] == data
    slider(shown, "beta").value = 10.0
    assert shown.still()[0] != data
    assert "β = 10" in repr(shown)


def test_two_maps_have_the_same_places_and_need_one_dataset():
    one, two = run(KARATE), run(replace(KARATE, gamma=0.0))
    pair = live_map(one, two)
    figures = [json.loads(m.drawing["figure"]) for m in pair._maps]
    nodes = [[t["x"] for t in f["data"] if t.get("meta") == "nodes"] for f in figures]
    assert nodes[0] == nodes[1]
    assert figures[0]["layout"]["meta"]["pair"] == figures[1]["layout"]["meta"]["pair"]
    assert figures[0]["data"] != figures[1]["data"]
    pair.selected = 3
    assert all("Node 3" in card.value for card in pair._cards)
    assert Image.open(io.BytesIO(pair.still()[0])).size[0] == 2 * pair.still()[1]
    with pytest.raises(SpearError, match="need one dataset, got karate and digits"):
        live_map(one, run(Settings()))
    assert len(live_map(one)._maps) == 1


def test_plotly_comes_over_the_kernel_and_is_no_state(shown):
    sent = []
    shown._panels.map.send = lambda content, buffers: sent.append((content, buffers))
    shown._panels.map._asked(None, {"kind": "plotly?"}, [])
    ((content, (plotly,)),) = sent
    assert content == {"kind": "plotly"}
    assert len(plotly) > 3_000_000
    assert sum(len(str(v)) for v in shown._panels.map.get_state().values()) < 600_000


def test_without_anywidget_the_import_says_what_to_install():
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'anywidget' else real(name, *a)\n"
        "import spear_core\n"
        "try:\n    import spear_core.widgets\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert 'pip install "spear-explorer[notebook]"' in done.stdout, done.stderr
    assert LibraryMissing.__name__ in done.stdout


def test_the_engine_alone_needs_no_widgets():
    code = "import sys, spear_core; print({'anywidget', 'ipywidgets', 'PIL'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


def test_each_adapter_is_thin():
    for path in ("pages/shared/livemap_streamlit.js", "spear_core/widgets/live_anywidget.js"):
        assert len((ROOT / path).read_text().splitlines()) < 80
