"""The link: every control written, every value read back, what cannot be used left out."""

import math
from dataclasses import fields, replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.state import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from pages.shared import link
from spear_core import Settings, SpearError, defaults
from spear_core.fields import changed
from tests.browser import ROOT
from tests.strategies import any_settings, unshrunk


def affordable(settings):
    try:
        return link.affordable(settings)
    except SpearError:
        return None


SETTINGS = any_settings(
    dataset=st.sampled_from(["digits", "Cora", "ogbn-arxiv"]),
    seed=st.integers(0, 2**32 - 1),
    clients=st.integers(1, 1000),
    steps=st.integers(0, 30),
    shrinkage=st.booleans(),
    count_weights=st.booleans(),
    peers=st.sampled_from(["mean", "semantic"]),
    partition=st.sampled_from(["dirichlet", "iid", "louvain"]),
).filter(affordable)


def back(query):
    values, notes = link.parse(query)
    return Settings(**{name: values[name] for name in link.SETTINGS}), notes


@unshrunk
@given(SETTINGS)
def test_a_link_reopens_the_exact_settings(settings):
    assert back(link.as_query(settings)) == (settings, [])


@unshrunk
@given(SETTINGS)
def test_a_short_link_reopens_the_exact_settings(settings):
    query = link.short(settings, {})
    assert back(query) == (settings, [])
    assert query.pop("v") == "2"
    usual = link.as_query(defaults(settings.dataset))
    assert all(usual[name] != text for name, text in query.items() if name != "dataset")


def test_a_short_link_says_what_differs_and_its_version():
    assert link.short(Settings(), {}) == {"v": "2"}
    assert link.short(Settings(alpha=0.5), {"view": "Confusion", "show": "both", "pick": ""}) == {
        "v": "2",
        "alpha": "0.5",
        "view": "Confusion",
    }
    karate = defaults("karate")
    assert link.short(karate, {}) == {"v": "2", "dataset": "karate"}
    assert link.short(replace(karate, clients=10), {})["clients"] == "10"


def test_what_a_link_leaves_unsaid_depends_on_its_version():
    """Before versions every parameter was in a link, and one left out was as in Settings()."""
    assert back({"dataset": "karate"})[0].clients == 10
    assert back({"dataset": "karate", "v": "2"})[0].clients == 3
    assert back({"v": "2", "dataset": "nonsense"})[0] == Settings()
    assert "v=9 in the link was left out" in link.parse({"v": "9"})[1][0]


EARLIER = (  # as the address bar had them, every parameter of its day in them
    "dataset=karate&seed=7&split=0&labels_per_class=0&partition=dirichlet&clients=4&beta=0.3"
    "&alpha=0.8&steps=5&gamma=inf&shrinkage=true&count_weights=false&peers=semantic"
    "&reliability=count&edge_noise=0.2&feature_noise=0&feature_rule=entries&label_noise=0"
    "&noise_when=after&noise_test=false&draw=0&attackers=chosen&attacker_count=0&chosen=0%2C3"
    "&flip=next&flip_from=0&flip_to=1&inflate=10&forge=none&forge_scale=10&collude=false"
    "&defence=median&cap_share=0.3&trim=0.2&expected_attackers=3&epsilon=inf&delta=1e-05"
    "&mechanism=gaussian&nodes=2000&degree=10&classes=5&features=64&homophily=0.8&strength=0.3"
    "&view=Confusion&show=local&colour=client&shrink=Proposition+1&centroid=all+nodes&digit=3"
    "&split_count=training+nodes&smooth_curve=Accuracy+over+T&sigma2=2&tau2=0.1&samples=5&learn=4"
    "&learn_n=8&learn_node=2&compare=Over+%CE%B2&sens=Two+knobs&sens_x=steps&sens_y=beta"
    "&paper=Curves&paper_table=claims&paper_curve=boundary&attack_view=Damage&noise_view=Labels+kept"
    "&hide=beta%2Cview&pin=dataset%3Akarate%2Cclients%3A3&pick=0%2C1&node=5"
)


def test_links_of_the_earlier_form_open_as_they_did():
    query = dict(parse_qsl(EARLIER))
    settings, notes = back(query)
    assert notes == []
    asked = {name: text for name, text in link.as_query(settings).items() if name in query}
    assert asked.items() <= query.items()
    newer = {name for name in link.SETTINGS if name not in query}
    assert not newer & set(changed(settings))
    values = link.parse(query)[0]
    others = {name: text for name, text in query.items() if name not in link.SETTINGS}
    assert {name: values[name] for name in others} == others
    again = link.parse(link.short(settings, values))
    assert again == (values, [])


def test_an_earlier_link_opens_in_the_app_and_its_address_becomes_short():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, text in parse_qsl(EARLIER):
        app.query_params[name] = text
    app.run()
    assert not app.exception
    assert not app.warning
    assert app.session_state["gamma"] == math.inf
    assert app.session_state["view"] == "Confusion"
    assert app.query_params["v"] == "2"
    assert "strength" not in app.query_params
    assert app.query_params["chosen"] == "0,3"


def test_datasets_beside_the_present_one_are_in_the_link():
    values, notes = link.parse({"sens_more": "karate,Nowhere,karate,Cora"})
    assert values["sens_more"] == ["karate", "Cora"]
    assert notes == ["sens_more=Nowhere in the link was left out: there is no such dataset."]
    assert link.short(Settings(), values)["sens_more"] == "karate,Cora"
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.query_params["sens_more"] = "karate,digits"
    app.run()
    app.switch_page("pages/sensitivity.py").run()
    assert not app.exception
    assert app.multiselect(key="sens_more").value == ["karate"]  # digits is the present one
    assert app.query_params["sens_more"] == "karate"


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


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("clients", "1001", "clients must be at most 1000 in a link, got 1001; the command line"),
        ("nodes", "10000000", "nodes must be at most 200000 in a link"),
        ("degree", "50.5", "degree must be at most 50 in a link, got 50.5"),
        ("features", "2001", "features must be at most 2000 in a link"),
        ("classes", "101", "classes must be at most 100 in a link"),
        ("steps", "101", "steps must be at most 100 in a link"),
        ("chosen", "0,1000", "chosen must be client numbers below 1000 in a link"),
    ],
)
def test_links_stop_before_the_command_line(name, text, words):
    settings, notes = back({name: text, "alpha": "0.4"})
    assert settings == Settings(alpha=0.4)
    assert len(notes) == 1
    assert words in notes[0]
    assert getattr(Settings(**{name: text}), name)  # elsewhere it is fine
    assert link.unpin(f"{name}:{text}")[0] is None


def test_a_graph_that_takes_long_is_left_out_of_a_link():
    wide = {"dataset": "synthetic", "nodes": "200000", "degree": "50", "features": "2000"}
    settings, notes = back(wide)
    assert settings == Settings()
    assert "takes about 5.5 GB of memory, pages stop at 0.5 GB" in notes[0]
    assert link.unpin(",".join(f"{k}:{v}" for k, v in wide.items()))[0] is None
    arxiv = {"dataset": "synthetic", "nodes": "169343", "degree": "13.7", "features": "128"}
    assert back(arxiv | {"classes": "40"})[1] == []


def test_a_bad_pin_is_left_out():
    for text in ("beta:-1", "what:1", "::", "beta"):
        values, notes = link.parse({"pin": text})
        assert values["pin"] == ""
        assert len(notes) == 1


def test_a_pin_that_says_one_setting_often_is_read_once():
    """Fifty thousand times α were three seconds of reading; the last counts, as in the link."""
    settings, notes = link.unpin(",".join(["alpha:7"] * 50_000 + ["alpha:0.5"]))
    assert settings == Settings(alpha=0.5)
    assert notes == []


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
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
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
    last = {name: usual[name] for name in (*link.SETTINGS, *link.views(), link.BESIDE)} | {
        "labels_per_class": 5
    }
    state = {
        name: value for name, value in last.items() if name not in ("labels_per_class", "beta")
    }
    last["beta"] = None  # was not known then either
    monkeypatch.setattr(link.st, "session_state", state | {"_last": last})
    link.keep()
    assert link.st.session_state["labels_per_class"] == 5
    assert link.st.session_state["beta"] == Settings().beta


def test_a_redraw_of_ours_does_not_bring_an_older_link_back():
    """A timer's rerun carries the query of before the last move; a link that is opened does not."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.query_params["dataset"], app.query_params["clients"] = "karate", "3"
    app.run()
    before = dict(app.query_params)
    app.session_state["gamma"] = 2.0
    app.run()
    assert app.query_params["gamma"] == "2"
    for ours, gamma in ((True, 2.0), (False, 0.5)):
        app.query_params.clear()
        app.query_params.update(before)
        if ours:
            app.session_state["_redraw"] = True
        app.run()
        assert not app.exception
        assert app.session_state["gamma"] == gamma
        assert "_redraw" not in app.session_state
