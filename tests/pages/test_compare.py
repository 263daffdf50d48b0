"""The Compare page: every view, a live run, and stopping one in a real browser."""

import base64
import re
from dataclasses import replace

import pytest

from pages.parts import compare_live
from pages.shared import link
from spear_core import run
from spear_core.baselines import METHODS, defaults
from spear_core.baselines.loop import curve_so_far, train
from spear_core.baselines.results import append, data_of, own, row_of, stored
from spear_core.baselines.views import Summary, summaries
from spear_core.figures import compare as figures
from spear_core.paper import rivals
from tests.apptest import charts, put, sound
from tests.apptest import printed as lines_print
from tests.browser import FLAGS, IDLE, eventually, need_browser, running_app
from tests.conftest import need
from tests.pages.comparing import KARATE, karate, opened, said, store_two

VIEWS = link.choices("compare")

# -- what is shown


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws_where_nothing_is_stored(view, cache):
    page = karate(compare=view)
    assert page.session_state["compare"] == view
    if view in ("Accuracy", "Over rounds"):
        assert "No trained run is stored" in said(page)
    if view in ("Time against accuracy", "Over β"):
        assert len(charts(page)) == 1


def test_on_a_heavy_graph_one_seed_is_run_and_said_so(cache, monkeypatch):
    monkeypatch.setattr("pages.shared.runs.HEAVY", 10)
    page = karate(compare="Accuracy", gamma=0.77)
    assert "seed 42 alone" in "".join(block.value for block in page.caption)
    first = page.dataframe[0].value.iloc[0]
    assert (first["seeds"], first["note"]) == ("42", "timed now, once")


def test_the_lines_behind_the_page_run(cache):
    assert lines_print(karate()).startswith(f"{run(KARATE).metrics.accuracy} ")


def test_stored_runs_of_cora_stand_beside_the_paper(cache):
    need("Cora")
    page = opened(dataset="Cora")
    table = page.dataframe[0].value.set_index("method")
    here = [s for s in summaries(stored()) if (s.dataset, s.clients, s.beta) == ("Cora", 10, 0.05)]
    multi = {name for name, method in METHODS.items() if not method.one_shot}
    assert {s.method for s in here} >= multi - {"fedproto-heads"}
    plain = table[table["trained with"].isin(["no weight decay", "one round"])]
    for s in here:
        if s.recipe == "default":
            title = METHODS[s.method].title
            line = plain.loc[title]
            assert line["accuracy, %"] == pytest.approx(100 * s.accuracy)
            assert line["rounds"] == s.rounds
            assert line["seeds"] == ", ".join(str(seed) for seed in s.seeds)
            if s.method != "fedproto-heads":  # no row of the paper's
                assert line["printed, %"] == rivals.accuracies("Cora", 10, 0.05)[title]
    assert table.loc["SPEAR", "printed, %"] == 63.35
    gone = rivals.unmeasured({s.method for s in here})
    for name in gone:  # named, with the printed figure, and nothing measured
        assert table.loc[name, "trained with"] == "not measured"
        assert table.loc[name, ["accuracy, %", "seconds"]].isna().all()
    assert re.search(
        r"Better here than the paper prints\*\*: FedAvg \(7\d\.\d against 34.7\)", said(page)
    )
    assert "2814 MB" in said(page)
    spec = charts(page)["compare-table"]
    words = next(t["text"] for t in spec["data"] if t["name"] == "printed in the paper")
    assert sum("not measured" in word for word in words) == len(gone)
    put(page, compare="Over rounds")
    rounds = charts(page)["compare-rounds"]["data"]
    assert {trace["name"] for trace in rounds} >= {METHODS[s.method].title for s in here}
    assert "100 rounds" in said(page)
    put(page, compare="Over β")
    lines = {t["name"]: t["x"] for t in charts(page)["compare-beta"]["data"]}
    assert {"SPEAR, α = 0.15", "SPEAR, α = 0.8", "FedAvg, no weight decay"} <= set(lines)
    assert {0.05, 0.1, 0.3, 0.5, 1.0} <= set(lines["FedAvg, no weight decay"])


def test_a_bubble_grows_with_its_clients(cache):
    store_two()
    page = karate(compare="Time against accuracy")
    traces = {t["name"]: t for t in charts(page)["compare-pareto"]["data"]}
    assert set(traces) == {"FedAvg", "FedProx", "SPEAR"}
    spear = traces["SPEAR"]
    assert spear["customdata"] == [3, 5, 10, 20]  # karate has 34 nodes
    assert spear["marker"]["size"] == sorted(spear["marker"]["size"])
    assert len(set(spear["marker"]["size"])) == 4
    assert "K = 3, 5, 10, 20" in said(page)


def test_a_constant_predictor_is_named(cache):
    done = train(KARATE, defaults("fedavg", rounds=1))
    row = replace(row_of(done), constant="Officer", histogram=(0, 24))
    append(row, own())
    note = karate().dataframe[0].value.set_index("method").loc["FedAvg", "note"]
    assert note == "always Officer (1 of 1 seeds)"


def test_the_link_hides_the_switch(cache):
    page = karate(compare="Over β", hide="compare")
    assert "compare-beta" in charts(page)
    assert not [c for c in page.segmented_control if c.key == "compare"]
    assert [c for c in karate().segmented_control if c.key == "compare"]


def test_other_clients_are_read_from_the_papers_table_of_scales():
    assert rivals.accuracies("Cora", 50, 0.05) == {
        "FedAvg": 32.31, "GHOST": 37.1, "OASIS": 40.59, "SPEAR": 62.33,
    }  # fmt: skip
    assert rivals.accuracies("Cora", 10, 0.1) == {}
    assert rivals.accuracies("karate", 10, 0.05) == {}
    assert "OASIS" not in rivals.accuracies("ogbn-arxiv", 10, 0.05)  # out of memory
    assert rivals.silhouettes("Cora")["FedGTA"] == -0.336


# -- run it now


@pytest.mark.parametrize("method", ["fedavg", "fedgta"])
def test_a_live_run_draws_its_curve_and_is_stored(method, cache):
    page = karate()
    page.selectbox(key="compare_method").select(method)
    page.select_slider(key="compare_rounds").set_value(5)
    page.button(key="compare_go").click().run()
    sound(page)
    trace = charts(page)["compare-live"]["data"][0]
    through = train(KARATE, defaults(method, rounds=5), keep=False)
    assert trace["x"] == [1, 2, 3, 4, 5]
    assert trace["y"] == pytest.approx([100 * p.accuracy for p in through.curve])
    assert "5 rounds: " in said(page)
    assert "times faster" in said(page)
    assert [row.training.method for row in stored(own())] == [method]
    assert METHODS[method].title in set(page.dataframe[0].value["method"])
    page.button(key="compare_go").click().run()  # read, not trained, and not stored twice
    assert len(stored(own())) == 1


def test_a_one_shot_method_shows_its_servers_steps(cache):
    page = karate()
    assert page.selectbox(key="compare_method").value == "fedavg"  # until another is chosen
    page.selectbox(key="compare_method").select("fedsd2c")
    page.button(key="compare_go").click().run()
    sound(page)
    (row,) = stored(own())
    assert (row.training, len(row.curve)) == (defaults("fedsd2c"), 1)
    trace = charts(page)["compare-live"]["data"][0]
    assert (trace["name"], len(trace["x"]), trace["x"][-1]) == ("after each server step", 20, 200)
    assert "one round: " in said(page)
    line = page.dataframe[0].value.set_index("method").loc["FedSD2C"]
    assert line["trained with"] == "one round"
    assert "from images to graphs" in line["note"]


def test_with_weight_decay_it_is_the_other_recipe(cache):
    page = karate()
    page.selectbox(key="compare_recipe").select("literature")
    page.select_slider(key="compare_rounds").set_value(5)
    page.button(key="compare_go").click().run()
    sound(page)
    assert stored(own())[0].training.weight_decay == 5e-4
    table = page.dataframe[0].value.set_index("method")
    assert table.loc["FedAvg", "trained with"] == "weight decay 5e-4"


def test_a_stopped_run_keeps_its_curve_and_goes_on(cache):
    training_ = defaults("fedavg", rounds=5)
    assert curve_so_far(KARATE, training_) == ()
    part = train(KARATE, training_, lambda point: point.round < 2)
    assert curve_so_far(KARATE, training_) == part.curve
    page = karate()
    page.session_state["_compare_live"] = compare_live.Live(
        "FedAvg",
        data_of(KARATE),
        5,
        {1: 40.0, 2: 45.0},
        "Stopped after 2 of 5 rounds; run it to go on.",
    )
    sound(page.run())
    assert charts(page)["compare-live"]["data"][0]["x"] == [1, 2]
    assert "Stopped after 2 of 5" in said(page)
    page.select_slider(key="compare_rounds").set_value(5)
    page.button(key="compare_go").click().run()
    sound(page)
    assert charts(page)["compare-live"]["data"][0]["x"] == [1, 2, 3, 4, 5]


def test_a_graph_without_test_nodes_has_a_sentence_and_no_figure(cache, monkeypatch):
    monkeypatch.setattr("pages.shared.runs.over_seeds", lambda *given: [None])
    assert "nan" not in said(karate()).lower()


# -- representations


def test_five_representations_with_their_silhouettes(cache, monkeypatch):
    """The fitting process of UMAP is left out here: it compiles for 20 s."""
    monkeypatch.setattr(
        "spear_core.baselines.spaces.layout", lambda near, start, say: start.numpy()
    )
    monkeypatch.setattr("pages.parts.compare_spaces.ROUNDS", 3)
    page = karate(compare="Representations")
    assert not charts(page)
    page.toggle[0].set_value(True).run()
    sound(page)
    names = ("raw features", "SPEAR, smoothed", "FedAvg", "FedProto", "FedGTA")
    assert [key for key in charts(page) if key.startswith("compare-space")] == [
        f"compare-space-{name}" for name in names
    ]
    for name in names:
        assert re.search(rf"\*\*{name}\*\*: -?\d\.\d\d\d", said(page))
        traces = charts(page)[f"compare-space-{name}"]["data"]
        drawn = sum(len(base64.b64decode(t["x"]["bdata"])) // 4 for t in traces)  # float32
        assert drawn == len(run(KARATE).graph.test_nodes)


# -- the figures alone


def summary(**changes) -> Summary:
    base = {
        "method": "fedavg", "recipe": "default", "dataset": "Cora", "clients": 10, "beta": 0.05,
        "rounds": 3, "seeds": (1, 2), "accuracy": 0.5, "spread": 0.1, "best_accuracy": 0.6,
        "constant": (), "largest": 0.3, "bytes_up": 1.0, "bytes_down": 1.0, "seconds": 2.0,
        "curve": (0.1, 0.2, 0.5),
    }  # fmt: skip
    return Summary(**(base | changes))


def test_a_method_has_one_colour_on_every_figure():
    rows = [summary(), summary(recipe="literature"), summary(method="moon")]
    bars = figures.accuracies(rows, (60.0, 1.0), {"MOON": 20.0}, ["GHOST"])
    curves = figures.over_rounds(rows, (60.0, 1.0))
    dots = figures.pareto(rows, [(0.01, 60.0, 10)])
    blue = METHODS["fedavg"].colour
    assert [bar.y for bar in bars.data[:3]] == [("SPEAR",), ("FedAvg", "MOON"), ("FedAvg",)]
    assert [t.line.color for t in curves.data[:3]] == [blue, blue, METHODS["moon"].colour]
    assert dots.data[0].marker.color == blue
    assert [t.showlegend for t in curves.data[:3]] == [True, False, True]
    assert list(bars.layout.yaxis.categoryarray) == ["SPEAR", "FedAvg", "MOON", "GHOST"]


# -- in a real browser


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPEAR_CACHE", str(tmp_path_factory.mktemp("cache")))
        with running_app() as url, sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
            page = chromium.new_page(viewport={"width": 1280, "height": 1600})
            page.set_default_timeout(90_000)
            page.goto(f"{url}/compare?dataset=karate&clients=3")
            ready(page)
            yield page
            chromium.close()


def ready(tab):
    tab.get_by_role("button", name="Copy link").wait_for()  # the last to be drawn
    tab.wait_for_selector(IDLE)


def choose(tab, label, option):
    tab.get_by_role("combobox", name=label).click()
    tab.get_by_role("option", name=option, exact=True).click()
    ready(tab)


def points(tab):
    """How many rounds the live curve shows."""
    found = "document.querySelector('[class*=compare-live] .js-plotly-plot')?.data?.[0].x"
    return tab.evaluate(f"() => {found}?.length ?? 0")


@pytest.mark.browser
def test_views_switch_without_a_fault(tab):
    for view, key in (
        ("Time against accuracy", "compare-pareto"), ("Over β", "compare-beta"),
    ):  # fmt: skip
        tab.get_by_role("radio", name=view, exact=True).click()
        tab.locator(f".st-key-{key} .main-svg").first.wait_for()
    for view, words in (
        ("Representations", "Train and map them"), ("Over rounds", "No trained run is stored"),
        ("Accuracy", "No trained run is stored"),
    ):  # fmt: skip
        tab.get_by_role("radio", name=view, exact=True).click()
        tab.get_by_text(words).first.wait_for()
    ready(tab)
    assert tab.locator("[data-testid=stException]").count() == 0


@pytest.mark.browser
def test_a_run_to_its_end(tab):
    slider = tab.get_by_role("slider", name="Rounds")
    slider.press("Home")
    tab.wait_for_url("**compare_rounds=5*")  # the server has it: a slider sends a moment later
    tab.get_by_role("button", name="Run it now").click()
    tab.get_by_text("times faster").wait_for()
    eventually(tab, lambda: _is(points(tab), 5))


@pytest.mark.browser
def test_a_stopped_run_shows_the_rounds_it_had(tab):
    choose(tab, "Method", "FedTAD")  # its server takes long enough to be stopped
    slider = tab.get_by_role("slider", name="Rounds")
    slider.press("End")
    tab.wait_for_url("**compare_rounds=100*")
    tab.get_by_role("button", name="Run it now").click()
    tab.get_by_text("FedTAD, no weight decay, on karate", exact=False).first.wait_for()
    tab.get_by_text(re.compile(r"round [3-9] of 100|round \d\d of 100")).first.wait_for()
    tab.get_by_role("button", name="Stop").click()
    told = tab.get_by_text(re.compile(r"Stopped after \d+ of 100 rounds"))
    told.wait_for()
    done = int(re.search(r"after (\d+) of", told.inner_text()).group(1))
    assert 3 <= done < 100
    eventually(tab, lambda: _is(points(tab), done))
    ready(tab)
    assert tab.locator("[data-testid=stException]").count() == 0


def _is(found, wanted):
    assert found == wanted
