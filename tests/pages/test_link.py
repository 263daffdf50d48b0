"""The link: every control written, every value read back, what cannot be used left out."""

import math
from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.state import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.shared import link
from spear_core import Settings, defaults
from tests.browser import ROOT
from tests.strategies import any_settings, unshrunk

SETTINGS = any_settings(
    dataset=st.sampled_from(["digits", "Cora", "ogbn-arxiv"]),
    seed=st.integers(0, 2**32 - 1),
    clients=st.integers(1, 1000),
    steps=st.integers(0, 30),
    shrinkage=st.booleans(),
    count_weights=st.booleans(),
    peers=st.sampled_from(["mean", "semantic"]),
    partition=st.sampled_from(["dirichlet", "iid", "louvain"]),
)


def back(query):
    values, notes = link.parse(query)
    return Settings(**{name: values[name] for name in link.SETTINGS}), notes


@unshrunk
@given(SETTINGS)
def test_a_link_reopens_the_exact_settings(settings):
    assert back(link.as_query(settings)) == (settings, [])


@unshrunk
@given(SETTINGS)
def test_a_pinned_setting_survives_the_link(settings):
    assert link.unpin(link.pin(settings)) == (settings, [])


def test_common_values_look_as_they_always_did():
    query = link.as_query(Settings(beta=1, gamma=math.inf, delta=1e-5, inflate=1e6, alpha=0.15))
    told = {name: query[name] for name in ("beta", "gamma", "delta", "inflate", "alpha")}
    assert list(told.values()) == ["1", "inf", "1e-05", "1e+06", "0.15"]
    assert link.pin(Settings(alpha=0.1234567)) == "alpha:0.1234567"


def test_every_setting_but_the_device_is_written():
    assert set(link.as_query(Settings())) == {f.name for f in fields(Settings)} - {"device"}


def test_bad_values_are_left_out_with_a_sentence_and_the_rest_counts():
    settings, notes = back(
        {"beta": "-3", "clients": "many", "alpha": "0.4", "colour": "blue", "x": "1"}
    )
    assert settings == Settings(alpha=0.4)
    assert len(notes) == 4
    assert any(
        note.startswith("beta=-3 in the link was left out: beta must be above 0") for note in notes
    )
    assert any("there is no such control" in note for note in notes)


def test_values_that_do_not_go_together_are_left_out():
    settings, notes = back({"dataset": "synthetic", "nodes": "3", "classes": "5"})
    assert settings == Settings()
    assert len(notes) == 1


def test_a_bad_pin_is_left_out():
    for text in ("beta:-1", "what:1", "::", "beta"):
        values, notes = link.parse({"pin": text})
        assert values["pin"] == ""
        assert len(notes) == 1


def test_hidden_controls_and_a_picked_prototype():
    values, notes = link.parse({"hide": "beta,gamma,nonsense", "pick": "8,2"})
    assert values["hide"] == "beta,gamma"
    assert values["pick"] == "8,2"
    assert notes == ["hide=nonsense in the link was left out: there is no such control."]
    assert link.parse({"pick": "a,b"})[1]


def test_every_scenario_shows_something_else():
    """Another accuracy by a point or more, or other uploads by a fifth or more."""
    from pages.shared.controls import SCENARIOS
    from spear_core import run

    usual = run(defaults("digits"))
    for name, (changes, words) in SCENARIOS.items():
        result = run(Settings(**changes))
        moved = abs(result.metrics.accuracy - usual.metrics.accuracy) > 0.01
        sent = len(result.uploads.client) / len(usual.uploads.client)
        assert words
        assert name == "Paper default" or moved or not 0.8 < sent < 1.2, name


def test_a_page_just_opened_gets_its_query_even_if_the_server_still_has_it(monkeypatch):
    """The browser's address is bare then, whatever the server was told by a timer's rerun."""
    written, original = [], QueryParamsProxy.from_dict

    def from_dict(self, query):
        written.append(dict(query))
        original(self, query)

    monkeypatch.setattr(QueryParamsProxy, "from_dict", from_dict)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params["dataset"], app.query_params["clients"] = "karate", "3"
    app.run()
    count = len(written)
    app.run()
    assert len(written) == count  # nothing has changed, so nothing is sent
    app.switch_page("pages/split.py").run()  # with the very query of the page before
    assert app.session_state["_page"] == "split"
    assert len(written) == count + 1
    assert written[-1]["dataset"] == "karate"


def test_a_control_that_streamlit_forgot_gets_its_last_value_back(monkeypatch):
    usual = link.parse({})[0]
    last = {name: usual[name] for name in (*link.SETTINGS, *link.views())} | {"labels_per_class": 5}
    state = {
        name: value for name, value in last.items() if name not in ("labels_per_class", "beta")
    }
    last["beta"] = None  # was not known then either
    monkeypatch.setattr(link.st, "session_state", state | {"_last": last})
    link.keep()
    assert link.st.session_state["labels_per_class"] == 5
    assert link.st.session_state["beta"] == Settings().beta
