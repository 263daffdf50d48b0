"""Predictions, prototypes, words and the report: right, safe to open, and nothing is fetched."""

import csv
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

from spear_core import Settings, make_graph, run
from spear_core.exports import predictions_csv, prototypes_npz, report_html, strongest_terms
from spear_core.exports.terms import GLOBAL
from spear_core.graph import Extra


def lines_of(*texts):
    return np.frombuffer("\n".join(texts).encode(), np.uint8)


@pytest.fixture(scope="module")
def result():
    """Six nodes of two classes about the sea and the land, with ids that mean harm."""
    x = torch.tensor([[3.0, 0, 1], [2, 0, 1], [1, 0, 1], [0, 2, 1], [0, 3, 1], [0, 1, 1]])
    path = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    graph = make_graph(
        x,
        torch.cat([path, path.flip(0)], dim=1),
        torch.tensor([0, 0, 0, 1, 1, 1]),
        torch.tensor([True, True, False, True, True, False]),
        class_names=("sea", "<script>land"),
    )
    ids = ("=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "ana", 'b"ob,')
    extra = Extra(ids=lines_of(*ids), words=lines_of("wave", "hill", "the"))
    return run(Settings(clients=2, partition="iid"), graph.replace(extra=extra))


def test_every_node_has_its_row(result):
    rows = list(csv.DictReader(io.StringIO(predictions_csv(result))))
    assert [row["id"] for row in rows[2:]] == ["-2", "'@SUM(A1)", "ana", 'b"ob,']
    assert [row["part"] for row in rows] == ["train", "train", "test", "train", "train", "test"]
    names = [result.graph.names[c] for c in result.every_prediction.labels.tolist()]
    assert [row["predicted"] for row in rows] == names
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert [int(row["client"]) for row in rows] == result.partition.owner.tolist()


def test_a_spreadsheet_takes_no_cell_for_a_formula(result):
    for row in csv.reader(io.StringIO(predictions_csv(result))):
        for cell in row:
            assert not re.match(r"[=+@\t\r]|-(?!\d)", cell)


def test_prototypes_are_plain_arrays(result):
    with np.load(io.BytesIO(prototypes_npz(result)), allow_pickle=False) as kept:
        assert np.array_equal(kept["prototypes"], result.estimate.prototypes.numpy())
        assert kept["classes"].tolist() == ["sea", "<script>land"]
        assert kept["features"].tolist() == ["wave", "hill", "the"]


def test_prototypes_in_words(result):
    found = strongest_terms(result)
    first = {t.label: t.words[0] for t in found if t.client == GLOBAL}
    assert first == {0: "wave", 1: "hill"}
    assert {(t.client, t.label) for t in found if t.client != GLOBAL} == set(result.uploads.pairs)
    assert all("the" not in t.words[:1] for t in found)


def test_features_without_a_name_are_numbers():
    found = strongest_terms(run(Settings(dataset="karate", clients=3)), most=2, local=False)
    assert all(re.fullmatch(r"feature \d+", word) for t in found for word in t.words)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [tag, *(name for name, _ in attributes)]


def test_the_report_fetches_and_runs_nothing(result):
    text = report_html(result, ["Take <b>SPEAR</b>."], "http://127.0.0.1:1/?a=<x>")
    seen = Links()
    seen.feed(text)
    assert not {"script", "img", "link", "iframe", "src", "href", "onload"} & set(seen.found)
    assert "url(" not in text
    assert "default-src 'none'" in text
    assert "&lt;script&gt;land" in text
    assert "Take &lt;b&gt;SPEAR&lt;/b&gt;." in text
    assert f"{100 * result.metrics.accuracy:.1f} %" in text
