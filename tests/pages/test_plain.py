"""What links, files and reports say is shown as it is, and a fault has an id in the log."""

import json
import logging
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest

from pages.shared import lab
from pages.shared.plain import JOINER, plain
from spear_core.datasets import CATALOGUE, store
from tests.browser import ROOT

# GFM's addresses begin at the start, after a space or one of *_~(; looser here: anywhere at all
ADDRESS = re.compile(r"www\.|https?://|ftp://|[\w.+-]+@[\w-]+\.|(?:mailto|xmpp):", re.IGNORECASE)
WEAVE = st.lists(
    st.sampled_from(
        ["www.", "_", "__", "x_", "12", ". ", ") ", "http://", "a.b", "@", ":x:", "(", "*", " "]
    )
)
HOSTILE = ("![a]({}/a)", "[b]({}/b)", "<img src={}/c>", "{}/d", "_www.{}/e", "x_www.{}/f")


@given(st.text() | WEAVE.map("".join))
@example("_www.evil.com/x")
@example("__www.evil.com")
@example("x_www.evil.com")
@example("12. x")
@example("123456789) x")
def test_markdown_makes_nothing_of_plain_text(text):
    tokens = MarkdownIt("commonmark").parse(plain(text))
    kinds = {t.type for block in tokens for t in (block.children or [block])}
    assert kinds <= {"paragraph_open", "paragraph_close", "text", "text_special"}
    shown = "".join(t.content for block in tokens for t in block.children or ())
    assert not ADDRESS.search(shown)  # the browser looks for addresses in what is shown
    whole = "".join(c for c in " ".join(text.split()) if c.isprintable() or c == " ")
    if len(whole) < 200 and whole.isascii():
        assert shown.replace(JOINER, "").split() == whole.split()


def test_addresses_icons_and_directives_are_taken_apart():
    for text in (
        "http://a.example",
        "www.a.example",
        "_www.a.example",
        "b@a.example",
        ":material/home:",
        ":red[x]",
    ):
        assert JOINER in plain(text)
    assert plain("left out: beta_1 must be above 0.") == "left out: beta_1 must be above 0."
    assert len(plain("x" * 1000)) == 200
    assert plain("a\u202eb\x00c") == "abc"


def test_a_fault_shows_an_id_that_is_in_the_log(monkeypatch, caplog):
    def broken(settings):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(lab, "reminder", broken)
    with caplog.at_level(logging.ERROR, logger="spear"):
        app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    mark = re.search(r"at fault ([0-9a-f]{8})", app.error[0].value)[1]
    found = [r for r in caplog.records if mark in r.getMessage()]
    assert len(found) == 1
    assert "a fault of ours" in str(found[0].exc_info[1])
    assert app.sidebar.slider(key="alpha")  # the controls are still there


def test_a_fault_of_the_controls_is_said_as_kindly(monkeypatch, caplog):
    monkeypatch.setattr("pages.shared.controls._dataset", lambda: 1 / 0)
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    assert not app.exception
    assert "at fault" in app.error[0].value


def test_class_names_of_a_file_are_text(tmp_path):
    entry = next(e for e in CATALOGUE.values() if len(e.files) == 1 and "npz" in e.files[0])
    path = tmp_path / entry.folder / entry.files[0]
    path.parent.mkdir(parents=True)
    names = {
        "Data_Mining": "Data_Mining",
        "__a__": "a",
        "<img src=x>": "img srcx",
        "[a](http://b)": "a(http//b)",
    }
    names |= {"$": "?", "wwwwww.a.b": "wwwwww a.b", "WWW.a.b": "www a.b", "ww<w.a.b": "www a.b"}
    np.savez(path, class_names=np.array(list(names)))
    assert store.names_in(entry, tmp_path) == tuple(names.values())


@pytest.fixture
def listener():
    """An address of this machine, and the paths that somebody asked it for."""
    asked = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.browser
def test_nothing_of_a_link_is_fetched(open_page, listener):
    address, asked = listener
    texts = [one.format(address) for one in HOSTILE]
    tab = open_page("?" + "&".join(f"x{i}={quote(text)}" for i, text in enumerate(texts)))
    alerts = tab.get_by_test_id("stAlert")
    alerts.nth(len(HOSTILE) - 1).wait_for(timeout=60_000)
    for i, text in enumerate(texts):
        said = alerts.nth(i).inner_text().replace(JOINER, "")
        assert f"x{i}={text} in the link was left out" in said
    assert alerts.locator("a, img").count() == 0
    assert tab.outside == []
    assert asked == []


@pytest.mark.browser
def test_nothing_of_a_report_is_fetched(open_page, listener, tmp_path):
    address, asked = listener
    lure = " ".join(one.format(address) for one in HOSTILE)
    report = {"settings": {"gamma": lure}, "asked": [lure], "answered": [lure], "notes": [lure]}
    report |= {"dropped": [{"node": lure, "reason": lure}], "failure": lure}
    (tmp_path / "report.json").write_text(json.dumps(report))
    tab = open_page("deploy?v=2&dataset=karate&clients=3")
    tab.set_input_files("input[type=file]", str(tmp_path / "report.json"))
    main = tab.get_by_test_id("stMain")
    main.get_by_text("The run failed:").wait_for(timeout=60_000)
    main.get_by_text("The nodes that answered (1)").wait_for(timeout=60_000)
    assert main.get_by_text(address).count() >= 4
    assert main.locator(f"a[href*='{address[7:]}'], img[src*='{address[7:]}']").count() == 0
    assert tab.outside == []
    assert asked == []
