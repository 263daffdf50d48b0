"""The sidebar: typed values, a knob that plays, the switch, dimmed knobs, the accuracy, Present."""

import math

import pytest
import segno
from streamlit.testing.v1 import AppTest

from pages.shared import lab, present
from pages.shared.knobs import KNOBS
from pages.shared.pages import PAGES
from spear_core import Settings, run
from spear_core.settings import taken, titled
from tests.apptest import opened, sound
from tests.browser import ROOT


@pytest.fixture
def app():
    return sound(AppTest.from_file(ROOT / "app.py", default_timeout=600).run())


def typed(app, name, text):
    return sound(app.sidebar.text_input(key=f"typed_{name}").set_value(text).run())


def words(app):
    return " ".join(block.proto.body for block in app.sidebar.get("html"))


def foot(app):
    return next(text for b in app.sidebar.get("html") if "accuracy now" in (text := b.proto.body))


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_says_what_it_is_and_stays_within_its_setting(name):
    knob = KNOBS[name]
    assert "$" in knob.help
    assert "*Try*" in knob.help
    assert all(taken(name, value) == value for value in (*knob.played, *knob.stops))
    assert list(knob.played) == sorted(knob.played)


def test_any_value_can_be_typed(app):
    typed(app, "beta", "0.123")
    typed(app, "alpha", "0.97")
    typed(app, "gamma", "∞")
    state = app.session_state
    assert (state["beta"], state["alpha"], state["gamma"]) == (0.123, 0.97, math.inf)
    accuracy = run(Settings(beta=0.123, alpha=0.97, gamma=math.inf)).metrics.accuracy
    assert f"{100 * accuracy:.1f} %" in foot(app)
    assert app.sidebar.slider(key="alpha").max == 0.97
    app.sidebar.slider(key="alpha").set_value(0.5).run()
    assert app.sidebar.text_input(key="typed_alpha").value == "0.5"


def test_what_is_typed_is_text(app):
    typed(app, "beta", "<img src=//evil.example/x>")
    assert "&lt;img src=//evil.example/x&gt;" in words(app)
    assert "<img src=//evil" not in words(app)


def test_a_link_of_any_length_is_offered(app):
    """A QR code holds 2,953 characters: a long list of liars was a page that could not be drawn."""
    assert 'class="qr"' in words(app)
    app.session_state["attackers"] = "chosen"
    app.session_state["chosen"] = ",".join(map(str, range(1000)))
    sound(app.run())
    assert 'class="qr"' not in words(app)
    assert any("too long for a QR code" in one.value for one in app.sidebar.caption)


def test_a_bad_value_is_a_sentence_and_nothing_is_lost(app):
    typed(app, "beta", "-3")
    assert app.session_state["beta"] == 0.05
    assert app.sidebar.text_input(key="typed_beta").value == "-3"
    assert "beta must be above 0, got -3" in words(app)
    app.sidebar.select_slider(key="beta").set_value(1.0).run()
    assert app.sidebar.text_input(key="typed_beta").value == "1"
    assert "beta must be" not in words(app)


def test_alpha_goes_to_095_on_every_slider(app):
    assert app.sidebar.slider(key="alpha").max == 0.95


def test_a_knob_plays_from_end_to_end_and_stops(app):
    app.sidebar.button(key="play_steps").click().run()
    seen = [app.session_state["steps"]]
    while app.session_state["_play"] and len(seen) < 30:
        app.session_state["_step"] = True  # what the timer does
        sound(app.run())
        seen.append(app.session_state["steps"])
    assert tuple(seen) == KNOBS["steps"].played
    app.run()
    assert app.session_state["steps"] == KNOBS["steps"].played[-1]


def test_play_stops_at_a_press_and_on_another_page(app):
    app.sidebar.button(key="play_alpha").click().run()
    app.run()
    assert app.session_state["alpha"] == 0.0  # only the timer takes a step
    app.sidebar.button(key="stop_alpha").click().run()
    assert "_play" not in app.session_state
    app.sidebar.button(key="play_alpha").click().run()
    app.switch_page("pages/split.py").run()
    assert "_play" not in app.session_state


def test_the_switch_sets_a_kind_and_clean_takes_it_back(app):
    for kind, changes in lab.PRESETS.items():
        sound(app.sidebar.segmented_control(key="lab").set_value(kind).run())
        assert all(app.session_state[name] == value for name, value in changes.items())
        accuracy = run(Settings(**changes)).metrics.accuracy
        assert f"{100 * accuracy:.1f} %" in foot(app)
    app.sidebar.segmented_control(key="lab").set_value("noise").run()
    sound(app.sidebar.select_slider(key="side_edge_noise").set_value(0.7).run())
    assert app.session_state["edge_noise"] == 0.7
    app.sidebar.segmented_control(key="lab").set_value("clean").run()
    assert app.session_state["edge_noise"] == 0
    assert not lab.in_words(Settings())


def test_a_kind_whose_knobs_are_all_hidden_is_drawn(app):
    app.session_state["hide"] = "epsilon"
    app.session_state["epsilon"] = 5.0
    sound(app.run())
    assert app.session_state["lab"] == "private"


@pytest.mark.slow
@pytest.mark.parametrize("page", [page.name for page in PAGES if page.name not in ("explore",)])
def test_every_page_has_the_accuracy_and_dims_what_it_does_not_read(page):
    app = opened(page)
    assert "91.0 %" in foot(app)
    idle = next(one.idle for one in PAGES if one.name == page)
    for name in KNOBS if page != "learn" else ():
        assert app.sidebar.text_input(key=f"typed_{name}").disabled == (name in idle)
        assert idle.get(name, "") in words(app)


def test_present_hides_controls_and_can_be_left(app):
    app.sidebar.button_group(key="present_hide").set_value(["beta", "view"]).run()
    app.sidebar.toggle(key="present_large").set_value(True).run()
    sound(app)
    assert app.query_params["hide"] == "beta,view"
    assert app.query_params["present"] == "1"
    assert "typed_beta" not in [field.key for field in app.sidebar.text_input]
    app.sidebar.button(key="present_leave").click().run()
    assert dict(app.query_params) == {"v": "2"}
    assert app.sidebar.text_input(key="typed_beta").value == "0.05"


def test_present_offers_what_the_page_has_under_the_words_it_is_known_by(app):
    offered = app.sidebar.button_group(key="present_hide").options
    assert {"Estimator", "Prototypes", "Colour by", "Views of the page"} <= set(offered)
    attack = opened("attack").sidebar.button_group(key="present_hide").options
    assert set(map(titled, present.OWN["attack"])) <= set(attack)


def test_the_code_is_that_of_the_link():
    address = "http://127.0.0.1:8501/split?v=2&beta=0.3"
    assert present.qr(address) == segno.make(address, micro=False).svg_data_uri(
        scale=4, border=4, light="#fff"
    )
    assert "img" not in present.qr("x")
