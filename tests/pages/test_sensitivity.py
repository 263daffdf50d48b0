"""The Sensitivity and Deploy pages, and a click on a point."""

import base64
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.sensitivity_sweeps import take, values
from spear_core import PAPER_SEEDS, Settings, run
from spear_core.federation.lines import demo_line, run_line
from tests.apptest import charts
from tests.browser import FLAGS, IDLE, ROOT, eventually, need_browser, running_app


@pytest.fixture
def app():
    started = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    assert not started.exception
    return started


@pytest.mark.parametrize("knob", ["alpha", "gamma", "steps", "beta", "clients"])
def test_one_knob(app, knob):
    app.session_state["dataset"], app.session_state["clients"] = "karate", 3
    app.session_state["sens_x"] = knob
    app.switch_page("pages/sensitivity.py").run()
    assert not app.exception
    assert not app.error
    [chart] = charts(app).values()
    drawn = {trace.get("name"): trace for trace in chart["data"]}
    now = Settings(dataset="karate", clients=3)
    of_seeds = [run(replace(now, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    [height] = _numbers(drawn["you are here"]["y"])
    assert height == pytest.approx(100 * np.mean(of_seeds))
    line = drawn["karate"]
    swept = [value for _, value in line["customdata"] if value is not None]  # null: ∞
    assert swept == [value for value in values(now, knob) if value < np.inf]
    assert _numbers(line["y"])[swept.index(getattr(now, knob))] == pytest.approx(height)


def _numbers(column):
    """A column of a chart, which plotly may have packed."""
    if isinstance(column, list):
        return column
    return np.frombuffer(base64.b64decode(column["bdata"]), column["dtype"]).tolist()


def test_a_link_sweeps_the_built_in_graphs_alone(app):
    app.session_state["sens"] = "Homophily and α"
    app.switch_page("pages/sensitivity.py").run()
    assert not app.exception
    [chart] = charts(app).values()
    assert sorted(chart["data"][0]["text"]) == ["digits", "karate"]


def test_a_point_at_infinity_arrives_as_such(monkeypatch):
    taken = []
    monkeypatch.setattr("pages.parts.sensitivity_sweeps.controls.put", taken.append)
    monkeypatch.setattr("streamlit.switch_page", lambda page: None)
    take(["karate", None], ("dataset", "gamma"), Settings())
    assert taken == [Settings(dataset="karate", gamma="inf")]


def test_two_knobs_never_take_the_same_one_twice(app):
    app.session_state["dataset"], app.session_state["clients"] = "karate", 3
    app.session_state["sens"] = "Two knobs"
    app.session_state["sens_x"] = app.session_state["sens_y"] = "alpha"
    app.switch_page("pages/sensitivity.py").run()
    assert not app.exception
    assert not app.error
    assert app.session_state["sens_y"] != "alpha"


def test_the_lines_on_the_page_run(app):
    app.session_state["dataset"], app.session_state["clients"] = "karate", 3
    app.switch_page("pages/sensitivity.py").run()
    code = app.code[0].value.replace(".show()", "")
    names: dict = {}
    exec(code, names)
    points = set(zip(names["table"]["seed"], names["table"]["alpha"], strict=True))
    assert points == set(product(PAPER_SEEDS, values(Settings(), "alpha")))


def test_deploy_shows_the_commands_of_the_present_settings(app):
    app.session_state["gamma"] = 2.0
    app.switch_page("pages/deploy.py").run()
    assert not app.exception
    shown = "\n".join(block.value for block in app.code)
    now = Settings(gamma=2.0)
    assert demo_line(now) in shown
    assert run_line(replace(now, classes=10, features=64)) in shown
    assert "gamma=2.0" in shown


@pytest.mark.browser
def test_a_click_on_a_point_opens_the_explorer_there_and_a_report_is_read(tmp_path):
    path = need_browser()
    from playwright.sync_api import sync_playwright

    report = {"settings": {"gamma": 0.5}, "asked": ["1", "2"], "answered": ["1"], "rows": 3}
    report |= {"dropped": [{"node": "2", "reason": "it did not answer by the deadline"}]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    with running_app() as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        tab = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(f"{address}/sensitivity?dataset=karate&clients=3&sens_x=alpha")
        tab.get_by_role("button", name="Copy link").wait_for(timeout=90_000)
        tab.wait_for_selector(".js-plotly-plot .scatterlayer .point", timeout=90_000)

        def click():
            tab.wait_for_selector(IDLE, timeout=90_000)
            tab.wait_for_timeout(500)
            points = tab.locator(".js-plotly-plot .scatterlayer .point")
            box = points.nth(points.count() - 3).bounding_box()  # then the best and "you are here"
            tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            tab.get_by_text("Accuracy on test nodes").wait_for(timeout=20_000)

        eventually(tab, click)
        tab.wait_for_url("**alpha=0.9**", timeout=90_000)
        tab.goto(f"{address}/deploy")
        tab.locator("input[type=file]").set_input_files(str(tmp_path / "report.json"))
        tab.get_by_text("1 of 2").wait_for(timeout=90_000)
        tab.goto(f"{address}/paper?paper_table=ablation")
        cell = tab.locator(".paper a", has_text="±").first
        cell.wait_for(timeout=90_000)
        assert "dataset=Cora" in cell.get_attribute("href")
        chromium.close()
