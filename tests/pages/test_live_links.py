"""Sixty links that nobody would write, against a live server; `make trials` opens 2,000."""

from urllib.parse import parse_qsl

import pytest
from packaging.version import Version

from spear_core.settings import FIELDS
from tests import fuzz
from tests.browser import ROOT, running_server


@pytest.mark.slow
def test_no_link_breaks_or_holds_up_a_live_server(tmp_path):
    log = tmp_path / "log.txt"
    with running_server(log=log) as (address, pid):
        visits = fuzz.visited(address, pid, fuzz.drawn(60, seed=15))
    assert len(visits) == 60
    assert [visit for visit in visits if visit.wrong] == []
    assert fuzz.faults(log) == []


def test_the_links_are_of_every_page_and_go_beyond_every_limit():
    paths = fuzz.drawn(2000, seed=15)
    assert paths == fuzz.drawn(2000, seed=15)
    assert len(paths) == 2000
    assert paths[0] == "?epsilon=1e308"
    assert {path.partition("?")[0] for path in paths} == {"", *(p.name for p in fuzz.PAGES[1:])}
    asked = [pair for path in paths for pair in parse_qsl(path.partition("?")[2])]
    assert {name for name, _ in asked} >= set(fuzz.link.SETTINGS)
    for name in fuzz.link.SETTINGS:
        if FIELDS[name].type in ("int", "float"):
            _, high = fuzz.limits(FIELDS[name])
            assert any(number(value) > high for n, value in asked if n == name), name


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def test_the_pair_of_packages_is_one_that_streamlit_does_not_warn_of():
    """Websockets 17 wants uvicorn 0.52, which Flower does not take yet."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    new = Version(pins["uvicorn"]) >= Version("0.52.0")
    assert new or Version("16.1.1") <= Version(pins["websockets"]) < Version("17")
