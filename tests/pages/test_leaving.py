"""Who leaves waits for nothing: a closed tab, the next click, in a real browser and without."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest

from pages.shared import link
from pages.shared.background import Visitor
from spear_core import run
from spear_core.embed import Jobs, maps
from spear_core.memory.free import LIFTED
from tests.browser import ROOT, go_to, running_server, settled
from tests.conftest import random_graph
from tests.pages.test_background import SETTINGS


@pytest.fixture
def fits(monkeypatch):
    """The jobs of UMAPs, none of which begins."""
    monkeypatch.setattr(maps, "jobs", Jobs(rest=600))
    yield maps.jobs
    maps.jobs.close()


@pytest.fixture
def results():
    """A run that nothing was prepared for."""
    return [run(SETTINGS, random_graph(5))]


def test_who_closes_the_tab_waits_for_nothing(results, fits):
    one, two = Visitor(), Visitor()
    with one.pages_first(), two.pages_first():
        jobs = [one.fit(results[0].graph, alpha, 2) for alpha in (0.3, 0.4)]
        assert two.fit(results[0].graph, 0.4, 2) is jobs[1]
        for visitor in (one, two):
            visitor.prepare(results[0], 6)
        left = one.preparing
        one.leave()
    assert [job.cancelled for job in (left, *jobs)] == [True, True, False]
    assert two.preparing.ended.wait(600)
    assert not two.preparing.cancelled
    one.prepare(results[0], 6)  # the tab was opened again
    assert one.preparing.ended.wait(600)
    assert one.preparing is not left
    assert not one.preparing.cancelled


def test_a_page_waits_for_the_maps_it_asks_for_alone(results, fits):
    visitor, graph = Visitor(), results[0].graph
    visitor.begin("a view")
    one, two = (visitor.fit(graph, alpha, 2) for alpha in (0.3, 0.4))
    visitor.end()
    assert not one.cancelled
    visitor.begin("a view")  # say another γ
    assert visitor.fit(graph, 0.4, 2) is two
    assert not one.cancelled  # it may still be asked for
    visitor.end()
    assert (one.cancelled, two.cancelled) == (True, False)
    visitor.begin("another view")
    assert two.cancelled  # however long the page takes


# -- a real server

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
SLOW = {"dataset": "synthetic", "nodes": 200_000, "degree": 25, "features": 32}
SLOW |= {"steps": 100, "alpha": 0.9}  # seconds
LOAD = f"?{urlencode(SLOW)}"
WHOLE = f"""
import time
from spear_core import Settings, run
start = time.process_time()
run(Settings(**{SLOW})).metrics.accuracy
print(time.process_time() - start)
"""


def test_the_link_of_the_slow_page_is_let_in():
    assert link.parse(dict(parse_qsl(LOAD[1:])))[1] == []  # else nothing slow would be under way


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv(LIFTED, "1")  # how little memory is free changes nothing here
    with running_server() as (address, pid):
        yield address, pid


def computes(pid):
    """Whether a thread of the process wants to run; it may have to wait for a core."""
    states = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # ended meanwhile
            states.append(stat.read_text().rsplit(")", 1)[1].split()[0])
    return any(state in "RD" for state in states)


def used(pid):
    """Seconds of processor time, which do not depend on how busy the machine is."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until(true, limit=3000):
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def until_busy(pid):
    """Wait until a process was at work in nearly every look for half a second."""
    looks = deque([False], 25)
    until(lambda: looks.append(computes(pid)) or (len(looks) == 25 and sum(looks) > 20))


def until_idle(pid, limit=3000):
    """Wait until a process hardly wants to run for a second; when that second began."""
    looks = deque([(time.monotonic(), True)], 50)

    def idle():
        looks.append((time.monotonic(), computes(pid)))
        return len(looks) == 50 and sum(busy for _, busy in looks) < 5

    until(idle, limit)
    return max((at for at, busy in looks if busy), default=looks[0][0])


def children(pid):
    """The processes that a process has started."""
    text = "".join(f.read_text() for f in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for child in text.split()]


def gone(pid):
    """Whether a process has ended, also if nobody has looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.browser
@needs_proc
@pytest.mark.parametrize("way", ["close", "click"])
def test_work_ends_with_its_tab_or_the_next_click(server, browser, way):
    address, pid = server
    other = browser.new_page()
    other.goto(f"{address}/paper?dataset=karate")
    settled(other, "h1, h2, h3, p")
    until_idle(pid)
    slow = browser.new_page()
    slow.goto(f"{address}/{LOAD}")
    until_busy(pid)
    start, before = time.monotonic(), used(pid)
    if way == "close":
        slow.close()
    else:
        go_to(slow, "Paper")  # which reads its tables and loads nothing
    seconds = until_idle(pid) - start
    spent = used(pid) - before
    alone = subprocess.run([sys.executable, "-c", WHOLE], cwd=ROOT, capture_output=True, text=True)
    whole = float(alone.stdout)  # of loading and running alone; a page draws and prepares as well
    print(f"idle {seconds:.2f} s after the {way}, {spent:.2f} of {whole:.2f} s of processor time")
    assert spent < whole  # the native call under way, and the page that was clicked
    other.reload()
    settled(other, "h1, h2, h3, p")  # the server is as it was for others


@pytest.mark.browser
@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("way", ["close", "kill"])
def test_no_umap_is_made_for_a_closed_tab_or_a_killed_server(server, browser, way):
    address, pid = server
    tab = browser.new_page()
    tab.goto(f"{address}/?dataset=digits&alpha=0.47")
    until(lambda: children(pid))
    (child,) = children(pid)
    start = time.monotonic()
    if way == "kill":
        os.kill(pid, signal.SIGKILL)
    else:
        tab.close()
    until(lambda: gone(child))
    print(f"the process that compiled for nobody ended after {time.monotonic() - start:.2f} s")
