"""Deploy: the text of a report is somebody else's, so it is shown as text and cut."""

import xml.etree.ElementTree as ElementTree

from streamlit.testing.v1 import AppTest

from spear_core import Settings, run
from spear_core.figures.machines import MOST, machines, told
from spear_core.measures.spread import human_bytes
from tests.apptest import opened, put, said

LURE = "![a](http://127.0.0.1:9/p.png) [x](http://127.0.0.1:9) :red[z] $a$ `b` \u202e"


def show_report():
    from pages.parts import deploy_report
    from spear_core import Settings, run
    from spear_core.federation.report import Report
    from tests.pages.test_deploy import LURE

    long = 50 * LURE
    report = Report(
        settings={"gamma": long, long: 1},
        asked=[long],
        answered=[long],
        dropped=[{"node": long, "reason": long}],
        notes=[long],
        failure=long,
        seconds={long: 1.0, "join": 2.0},
    )
    deploy_report.draw(report, run(Settings(dataset="karate", clients=3)))


def test_nobody_hands_in_more_than_a_report():
    """A report is read whole: 200 MB, Streamlit's own limit, become a gigabyte of numbers."""
    (uploader,) = opened("deploy").get("file_uploader")
    assert uploader.proto.max_upload_size_mb == 20


def test_what_others_wrote_is_plain_text_and_cut():
    """In Markdown the picture would be fetched from wherever a node says."""
    shown = AppTest.from_function(show_report, default_timeout=600).run()
    assert not shown.exception
    texts = [element.value for element in shown.text]
    assert sum("p.png" in text for text in texts) == 5  # failure, settings, dropped, note, answered
    assert all(len(text) < 400 for text in texts[:-1])
    assert all(line.isprintable() for text in texts for line in text.split("\n"))
    others = [shown.markdown, shown.caption, shown.error, shown.info, shown.table, shown.metric]
    said = "".join(str(element.proto) for kind in others for element in kind)
    assert "The run failed" in said
    assert "until enough nodes had joined" in str(shown.table[1].value)
    assert "p.png" not in said
    assert not any("p.png" in expander.label for expander in shown.expander)


def words_of(result):
    drawn = ElementTree.fromstring(machines(result))
    return [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]


def test_the_machines_carry_the_numbers_of_the_run():
    """Karate, three clients: every upload is a vector, a count and a label of four bytes each."""
    result = run(Settings(dataset="karate", clients=3))
    words = words_of(result)
    for k in range(3):
        rows = int((result.sent.client == k).sum())
        at = words.index(f"client {k}")
        assert words[at + 1] == ("1 prototype" if rows == 1 else f"{rows} prototypes")
        assert words[at + 2] == human_bytes(4 * rows * (result.graph.num_features + 2))
    drawn = machines(result)
    assert told(result) in drawn
    assert "currentColor" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched


def test_many_machines_are_drawn_as_a_few_and_the_rest():
    words = words_of(run(Settings(clients=100)))
    assert sum(word.startswith("client ") for word in words) == MOST - 1
    assert f"{100 - MOST + 1} more" in words


def test_the_page_leads_with_the_machines_and_says_what_cannot_be_federated():
    page = opened("deploy")
    assert "<svg" in said(page)
    assert "run between machines as they are" in said(page)
    assert "answers with prototypes and counts." in said(page)
    put(page, smoothing="gated", head="ridge", sketch=8.0)
    assert "run between machines as they are" in said(page)
    assert "prototypes, counts, its energy and a sketch of its residuals" in said(page)
    assert "the ridge head ★" in said(page)
    put(page, defence="oracle")
    assert "run between machines as they are" not in said(page)
    assert "<svg" in said(page)
