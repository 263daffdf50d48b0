"""The costs of consensus in docs/robustness.md are those that benchmarks/consensus.py prints."""

import pytest
import torch

from benchmarks.consensus import BLOCKS, before, clean_line
from spear_core.defences import DEFENCES, Defence
from spear_core.defences.caps import median_cap
from spear_core.defences.consensus import borne_out
from tests.browser import ROOT
from tests.conftest import need
from tests.defences.test_consensus import world

DOC = (ROOT / "docs" / "robustness.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("block", "runs"), [("chosen", 1440), ("held-out", 3140), ("fresh", 1300)])
def test_the_page_has_every_row_of_a_block(block, runs):
    assert sum(map(len, BLOCKS[block].values())) == runs
    assert f"--only {block}`, {runs:,} runs" in DOC
    for name, row in BLOCKS[block].items():
        assert f"| {name} | {len(row):,} | " in DOC


@pytest.mark.parametrize(
    ("block", "name"), [("held-out", "karate"), ("fresh", "Actor, splits 2, 6, 9")]
)
def test_a_row_is_as_the_page_has_it(monkeypatch, block, name):
    runs = BLOCKS[block][name]
    if runs[0].dataset != "karate":
        need(runs[0].dataset)
    monkeypatch.setitem(DEFENCES, "before", Defence("before", "", before, needs_graph=True))
    line, lost = clean_line(name, runs)
    assert line in DOC
    assert all(said.partition(" points")[0] in DOC for said in lost)


def test_noise_in_few_dimensions_can_look_like_agreement():
    """The limit that the page names: two of twenty draws."""
    left_out = 0
    for seed in range(20):
        up = world(seed=seed)
        noise = torch.randn(len(up.client), 6, generator=torch.Generator().manual_seed(seed))
        up = up.replace(prototypes=noise)
        left_out += not borne_out(up, median_cap(up), None).all()
    assert left_out == 2
    assert "two of 20 draws of ten clients with noise in six dimensions" in " ".join(DOC.split())
