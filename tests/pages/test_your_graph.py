"""Your graph in a real browser: files are dropped, looked at, kept, used, judged and removed."""

import re
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from spear_core import Settings, load, run
from spear_core.datasets import mine
from spear_core.own import Given, Sources, keep, read_graph
from tests.apptest import opened, put, said, sound
from tests.browser import ROOT, eventually, need_browser, running_app, settled
from tests.own import tables
from tests.own.test_shapes import EDGES, NODES, RING, TEXTS

OWNED = NODES.replace(b",split", b",owner").replace(b",train", b",Ulm").replace(b",test", b",Bonn")
BARE = b"id,label\n1,a\n2,a\n3,\n4,b\n5,b\n6,b\n"
GRAPHML = b"""<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="l" for="node" attr.name="label" attr.type="string"/><graph edgedefault="undirected">
<node id="a"><data key="l">x</data></node><node id="b"><data key="l">y</data></node>
<edge source="a" target="b"/></graph></graphml>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """An app with a cache of its own."""
    need_browser()
    patch = pytest.MonkeyPatch()
    patch.setenv("SPEAR_CACHE", str(tmp_path_factory.mktemp("cache")))
    with running_app() as url:
        yield url
    patch.undo()


def drop(tab, *files):
    """Files into the uploaders of the page, in order."""
    for number, (name, data) in enumerate(files):
        one = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        tab.locator("input[type=file]").nth(number).set_input_files([one])
        tab.get_by_text(name, exact=True).first.wait_for()


def read(tab):
    """What is said of the files once they are read."""
    tab.get_by_text("What was read", exact=True).wait_for(timeout=120_000)
    settled(tab, "h1")
    return tab.get_by_test_id("stMain").inner_text()


@contextmanager
def visit(open_page, kind="Two tables"):
    tab = open_page("your_graph")
    if kind != "Two tables":
        tab.get_by_role("radio", name=kind).click()
        settled(tab, "h1")
    yield tab
    assert tab.outside == []


@pytest.mark.browser
def test_tables_are_dropped_looked_at_kept_judged_and_removed(open_page):
    digits = load(Settings())
    with visit(open_page) as tab:
        drop(tab, ("edges.csv", tables.edges_csv(digits)), ("nodes.csv", tables.nodes_csv(digits)))
        words = read(tab)
        assert "1,797" in words
        assert "200 train, 500 validate, 1,000 test" in words
        assert "None yet" in words  # nothing is kept before it was looked at
        tab.get_by_role("button", name="Keep it as a dataset").click()
        tab.get_by_text("on every page now").wait_for(timeout=120_000)
        settled(tab, "h1")
        eventually(tab, lambda: has(tab.url, "dataset=mine"))
        tab.get_by_role("button", name="Is training-free a good idea here?").click()
        tab.get_by_text(re.compile(r"^Take (SPEAR|LANCE) with ")).wait_for(timeout=300_000)
        settled(tab, "h1")
        with tab.expect_download() as one:
            tab.get_by_role("button", name="Predictions (CSV)").click()
        text = one.value.path().read_text()
        assert text.startswith("id,predicted,confidence,label,part,client\n")
        assert text.count("\n") == 1798
        with tab.expect_download() as other:
            tab.get_by_role("button", name="A report to mail (HTML)").click()
        assert "The verdict" in other.value.path().read_text()
        tab.get_by_role("button", name="Remove", exact=True).click()
        tab.get_by_text("mine is removed").wait_for(timeout=120_000)
        settled(tab, "h1")
        tab.get_by_text("The verdict on digits").wait_for()


def has(text, part):
    assert part in text


@pytest.mark.browser
@pytest.mark.parametrize(
    ("kind", "files", "words"),
    [
        ("Two tables", (("e.csv", EDGES), ("n.csv", NODES)), "left out: weight"),
        ("Two tables", (("e.tsv", EDGES.replace(b",", b"\t")), ("n.csv", OWNED)), "2 owners"),
        ("Two tables", (("e.txt", RING.encode()), ("n.csv", TEXTS.encode())), "by TF-IDF"),
        ("Two tables", (("e.csv", RING.encode()), ("n.csv", BARE)), "1 nodes without a label"),
        ("Two tables", (("e.csv", RING.encode()), ("n.csv", BARE)), "No features were given"),
        ("GraphML", (("g.graphml", GRAPHML),), "No split was given: 20 %"),
    ],
)
def test_shapes_of_input(open_page, kind, files, words):
    with visit(open_page, kind) as tab:
        drop(tab, *files)
        assert words in read(tab)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("kind", "files", "words"),
    [
        (
            "Two tables",
            (("e.csv", EDGES), ("n.csv", NODES.replace(b"0.5\n", b"half\n"))),
            "n.csv, row 3, column f1",
        ),
        ("Two tables", (("e.csv", b"a,b\nx,y\n"), ("n.csv", NODES)), "no edge joins two nodes"),
        ("GraphML", (("g.graphml", b"<!DOCTYPE a><graphml/>"),), "declares a document type"),
        ("A shared graph", (("x.npz", b"PK nothing"),), "is no compact graph"),
    ],
)
def test_what_is_broken_is_one_sentence(open_page, kind, files, words):
    with visit(open_page, kind) as tab:
        drop(tab, *files)
        tab.get_by_test_id("stAlert").filter(has_text=words).wait_for(timeout=120_000)
        assert tab.get_by_role("button", name="Keep it as a dataset").count() == 0


@pytest.fixture
def kept(cache):
    """A graph of one's own with owners, words and a node without a label."""
    nodes = OWNED.replace(b"cid,red", b"cid,")
    files = {"edges": Given("e.csv", EDGES), "nodes": Given("n.csv", nodes)}
    keep(read_graph(Sources(**files)), "mine")


def test_a_graph_of_ones_own_is_in_the_menu_and_on_the_page(kept):
    app = opened("your_graph")
    assert "mine" in app.sidebar.selectbox(key="dataset").options
    app = put(put(app, dataset="mine", clients=2), partition="owner")
    assert "**mine**: 6 nodes, 12 edges, 2 classes, 2 features, 2 owners" in said(app)
    of = set(app.dataframe[0].value["of"])
    assert "all clients" in of
    assert of & {"Bonn", "Ulm"}
    app.button(key="remove_mine").click().run()
    sound(app)
    assert app.session_state["dataset"] == "digits"
    assert mine.entries() == {}


def test_owners_bring_their_number_of_clients(kept):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300).run()
    assert "owner" not in app.sidebar.selectbox(key="partition").options
    app.sidebar.selectbox(key="dataset").select("mine").run()
    sound(app)
    app.sidebar.selectbox(key="partition").select("owner").run()
    sound(app)
    assert app.session_state["clients"] == 2
    shown = next(m.value for m in app.metric if m.label == "Accuracy on test nodes")
    settings = Settings(dataset="mine", partition="owner", clients=2)
    assert shown == f"{100 * run(settings).metrics.accuracy:.1f} %"


def test_a_link_to_a_graph_that_is_not_here_says_so():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300)
    app.query_params["dataset"] = "hospitals"
    app.run()
    assert not app.exception
    assert "There is no dataset 'hospitals'" in app.warning[0].value
    assert "to be added on this machine first" in app.warning[0].value


def test_a_graph_that_was_removed_elsewhere_is_no_dead_end(kept):
    app = put(opened("your_graph"), dataset="mine", clients=2)
    mine.remove("mine")
    app.run()
    assert not app.exception
    assert app.session_state["dataset"] == "digits"
    assert "mine is not on this machine any more" in app.warning[0].value


@pytest.mark.browser
@pytest.mark.slow
def test_a_file_of_two_hundred_megabytes(open_page, tmp_path):
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    names, row = ",".join(f"f{i}" for i in range(200)), ",0.123456" * 200
    many = 2 * 10**8 // len(row)
    with nodes.open("w") as file:
        file.write(f"id,label,{names}\n")
        file.writelines(f"node {i},class {i % 7}{row}\n" for i in range(many))
    with edges.open("w") as file:
        file.writelines(f"node {i},node {i * 7919 % many}\n" for i in range(many))
    assert nodes.stat().st_size > 2 * 10**8
    with visit(open_page) as tab:
        tab.locator("input[type=file]").nth(0).set_input_files(str(edges))
        tab.locator("input[type=file]").nth(1).set_input_files(str(nodes))
        tab.get_by_text("What was read", exact=True).wait_for(timeout=300_000)
        assert f"{many:,}" in read(tab)
