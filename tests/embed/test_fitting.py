"""UMAP in a process of its own: exact where it can be, repeatable, and gone when it must be."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from spear_core import Settings, embed, load
from spear_core.embed import Jobs, Map, fitting, maps, placing
from tests.embed.conftest import explicit

WIDE = Settings(dataset="synthetic", nodes=150, features=600, classes=3, strength=2.0, clients=4)


@pytest.fixture(scope="module")
def fitted() -> Map:
    """A real UMAP of a small graph with wide features; its first fit compiles for some seconds."""
    graph = load(WIDE)
    return maps.fitted(embed.preview(graph, 0.15, 2), lambda sentence, fraction: None)


@pytest.mark.slow
def test_fitted_map_of_wide_features_is_exact(fitted):
    z = explicit(fitted.graph, 0.15, 2)
    torch.testing.assert_close(fitted.lengths, z.norm(dim=1), atol=1e-4, rtol=0)
    unit = torch.nn.functional.normalize(z, dim=1)
    torch.testing.assert_close(
        placing.similarity(fitted, z[:7]), unit[:7] @ unit.t(), atol=1e-4, rtol=0
    )
    nearest = (unit @ unit.t()).fill_diagonal_(-1).max(1).values.quantile(maps.HOLLOW_SHARE)
    assert fitted.hollow_below == pytest.approx(float(nearest), abs=1e-4)


@pytest.mark.slow
def test_umap_keeps_neighbours_and_is_repeatable(fitted):
    same = fitted.graph.y[:, None] == fitted.graph.y
    near = torch.cdist(fitted.xy, fitted.xy).fill_diagonal_(torch.inf)
    alike = same.gather(1, near.topk(5, largest=False).indices).float().mean()
    assert alike > 0.9  # three clear classes; a third at random
    again = maps.fitted(embed.preview(fitted.graph, 0.15, 2), lambda sentence, fraction: None)
    assert torch.equal(again.xy, fitted.xy)


@pytest.mark.slow
def test_curve_is_that_of_umap():
    from umap.umap_ import find_ab_params

    assert find_ab_params(1.0, fitting.MIN_DIST) == pytest.approx((fitting.A, fitting.B), rel=1e-4)


@pytest.mark.slow
def test_what_umap_raises_is_told_and_the_next_fit_is_made():
    near = torch.eye(8)
    with pytest.raises(RuntimeError, match="min_dist"):
        fitting._ask({"index": np.zeros((8, 3)), "far": np.zeros((8, 3)), "start": np.zeros(8)})
    assert fitting.layout(near, torch.rand(8, 2), lambda sentence, fraction: None).shape == (8, 2)
    fitting.stop()  # as if it had crashed
    assert fitting.layout(near, torch.rand(8, 2), lambda sentence, fraction: None).shape == (8, 2)


def asked(alpha, by):
    return embed.background_fit(load(Settings()), alpha, 2, by=by)


def until(true):
    end = time.monotonic() + 600
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
def test_a_fit_that_is_left_ends_at_once_and_the_process_stays(fitted, monkeypatch):
    """`fitted` has made it compile; digits take seconds."""
    monkeypatch.setattr(maps, "jobs", Jobs())
    child = fitting._child
    first = asked(0.61, "one")
    until(lambda: first.fraction == 0.3)  # UMAP itself
    second = asked(0.62, "two")
    start = time.monotonic()
    maps.jobs.leave("one")
    until(lambda: second.sentence != "Waiting to fit the UMAP")
    print(f"left after {time.monotonic() - start:.2f} s")
    assert second.ended.wait(600)
    assert (first.value, first.error) == (None, None)
    assert maps.fitted_maps.peek(second.value).kind == "UMAP"
    assert fitting._child is child
    assert child.poll() is None
    alone = maps.fitted(embed.preview(load(Settings()), 0.62, 2), lambda sentence, fraction: None)
    assert torch.equal(
        alone.xy, maps.fitted_maps.peek(second.value).xy
    )  # nothing of the other is left


@pytest.mark.slow
def test_the_process_ends_when_it_compiles_for_nobody(monkeypatch):
    monkeypatch.setattr(maps, "jobs", Jobs(interrupt=fitting.stop))
    fitting.stop()
    before, job = fitting._child, asked(0.63, "one")
    until(lambda: fitting._child is not before)
    child = fitting._child
    assert child.poll() is None
    start = time.monotonic()
    maps.jobs.leave("one")
    until(lambda: child.poll() is not None)
    print(f"ended after {time.monotonic() - start:.2f} s")
    assert maps.jobs.join(600)
    assert (job.value, job.error) == (None, None)


ENDING = """
import time
from spear_core import Settings, embed, load
from spear_core.embed import fitting, maps

maps.jobs.rest = 0
job = embed.background_fit(load(Settings()), 0.37, 2)
while fitting._child is None:
    time.sleep(0.05)
while job.fraction < 0.3:  # UMAP itself, which takes seconds
    time.sleep(0.01)
assert not job.done
print(fitting._child.pid)
"""


@pytest.mark.slow
def test_the_program_ends_cleanly_while_a_map_is_fitted():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="there is no idle class")
def test_the_process_runs_when_nobody_else_wants_to():
    child = fitting._started()
    until(lambda: os.sched_getscheduler(child.pid) == os.SCHED_IDLE)


BUSY = """
import time
from pages.shared.background import Visitor
from spear_core.embed import fitting

child = fitting._started()
with Visitor().pages_first():
    print(child.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="Linux ends it")
def test_no_fitting_process_is_left_when_a_busy_app_is_killed():
    """Not even one that cannot run: that is what it looks like among much other work."""
    app = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    child = int(app.stdout.readline())
    until(lambda: os.sched_getscheduler(child) == os.SCHED_IDLE)  # it has begun
    os.kill(child, signal.SIGSTOP)
    app.kill()
    app.wait()
    app.stdout.close()
    until(lambda: ended(child))


def ended(pid):
    """Whether a process has ended, also if nobody has looked yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"
