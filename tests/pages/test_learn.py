"""The lesson: its answers come from the run, and it can be walked from end to end."""

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from spear_core import defaults, run
from spear_core.lesson import numbers, steps
from tests.apptest import charts
from tests.browser import FLAGS, IDLE, ROOT, eventually, need_browser, running_app

KNOBS = (0, 0, 2, 0, 0, 0, 3, 0)


@pytest.mark.parametrize("dataset", ["digits", "karate"])
@pytest.mark.parametrize("step", range(8))
def test_every_step_has_one_right_answer_among_different_choices(dataset, step):
    task = steps.STEPS[step][2](run(defaults(dataset)), KNOBS[step])
    assert len(set(task.choices)) == len(task.choices) >= 2
    assert 0 <= task.answer < len(task.choices)
    assert task.figure.data
    assert task.shown.data
    assert task.shown.layout.height == task.figure.layout.height  # nothing moves at the answer


def test_answers_follow_the_run():
    settings = defaults("digits")
    few = steps.splits(run(replace(settings, beta=0.05)), 0)
    many = steps.splits(run(replace(settings, beta=10.0)), 0)
    assert int(few.choices[few.answer]) < int(many.choices[many.answer])
    pull = steps.pulls(run(replace(settings, gamma=1.0)), 0)
    assert pull.choices[pull.answer] == "0.50"  # n = 1, γ = 1
    up = run(settings)
    node = steps.classifies(up, 5)
    assert node.choices[node.answer] == str(int(up.prediction.labels[5]))


def test_a_mean_of_more_nodes_is_nearer():
    result = run(defaults("digits"))
    one, four, sixteen = numbers.mean_errors(result, 3, (1, 4, 16))
    assert one / four == pytest.approx(4, rel=0.25)
    assert four / sixteen == pytest.approx(4, rel=0.25)


@pytest.mark.parametrize("dataset", ["digits", "karate"])
def test_sums_are_those_of_all_nodes_and_means_of_regressions_are_not(dataset):
    skewed, even = (numbers.apart(replace(defaults(dataset), beta=beta)) for beta in (0.05, 10.0))
    assert skewed[0] == pytest.approx(0, abs=1e-9)
    assert even[0] == pytest.approx(0, abs=1e-9)
    assert skewed[1] > 2 * even[1] or skewed[1] > 0.5
    assert even[1] > 0.01


@pytest.mark.parametrize("extreme", [{"gamma": float("inf")}, {"clients": 1}, {"alpha": 0.0}])
def test_extreme_settings_are_no_trap(extreme):
    result = run(replace(defaults("digits"), **extreme))
    for (_, _, make, _), knob in zip(steps.STEPS, KNOBS, strict=True):
        task = make(result, knob)
        assert np.isfinite(task.answer)


def test_a_link_opens_a_step_and_an_answer_shows_the_formula():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.run()
    app.session_state["learn"] = "5"
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    assert "5. Pull to the peers" in " ".join(m.value for m in app.markdown)
    assert not app.latex
    assert list(charts(app)) == ["learn-5"]  # the picture is there before the answer
    assert "The lesson is on **digits**" in " ".join(m.value for m in app.markdown)
    app.radio[0].set_value(app.radio[0].options[0]).run()
    assert not app.exception
    assert r"\lambda" in app.latex[0].value
    assert len(app.success) + len(app.info) == 1
    assert list(charts(app)) == ["learn-5-told"]


def test_a_picture_without_its_answer_does_not_tell_it():
    result = run(defaults("digits"))
    told = [steps.STEPS[i][2](result, KNOBS[i]) for i in range(8)]
    assert (
        max(told[2].shown.data[0].x) == 2
    )  # the error with 2 nodes is known, that with 8 is asked
    assert told[4].shown.data[0].y is not None
    assert "λ" not in told[4].shown.to_json()
    assert len(told[5].shown.data[0].x) == 5  # five seeds with counts; without them a question mark
    assert list(told[5].shown.data[-1].text) == ["?"]
    assert not told[7].shown.data[1].y  # the mean of regressions is known, the sums are asked
    assert max(told[7].figure.data[1].y) < 1e-9 < max(told[7].figure.data[0].y)
    assert "predicted" not in told[1].shown.to_json() + told[6].shown.to_json()


def test_the_lesson_says_that_it_is_on_digits_whatever_is_chosen():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    app.session_state["dataset"] = "synthetic"
    app.switch_page("pages/learn.py").run()
    assert not app.exception
    assert "**digits**" in " ".join(m.value for m in app.markdown)


@pytest.mark.browser
def test_the_lesson_from_first_to_last_step_with_the_keyboard(tmp_path):
    path = need_browser()
    from playwright.sync_api import expect, sync_playwright

    with running_app() as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        tab = chromium.new_page(viewport={"width": 400, "height": 900})
        tab.goto(f"{address}/learn?learn=1")
        for number, (title, *_) in enumerate(steps.STEPS, start=1):
            tab.get_by_role("heading", name=f"{number}. {title}").wait_for(timeout=90_000)
            tab.wait_for_selector(IDLE, timeout=90_000)
            choice = tab.get_by_role("radiogroup").last.get_by_role("radio").first

            def answer(choice=choice):
                choice.press("Space", timeout=5000)
                expect(choice).to_be_checked(timeout=5000)
                tab.wait_for_selector(".katex", timeout=15_000)

            eventually(tab, answer, 90)  # a key pressed while the step is redrawn is lost
            tab.wait_for_selector(".js-plotly-plot .main-svg", timeout=90_000)
            wide = tab.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
            assert not wide, f"step {number} is wider than a phone"
            if number < len(steps.STEPS):
                tab.get_by_role("button", name="Next").press("Enter")
        tab.get_by_text("Now explore it").wait_for()
        assert "learn=8" in tab.url
        chromium.close()
