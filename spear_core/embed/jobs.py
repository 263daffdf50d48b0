"""Fitting maps in the background: one at a time, for whoever is still looking."""

import atexit
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from spear_core.embed import fitting
from spear_core.embed.background import choose
from spear_core.embed.keep import map_key, remember
from spear_core.embed.maps import Map, fit, fitted_maps
from spear_core.errors import SpearError
from spear_core.graph import Graph

REST = 1.0  # seconds that a setting rests before its map is begun: a moving slider starts none
FORGET = 5.0  # seconds after which a waiting job that nobody polls is dropped


@dataclass(eq=False)
class Job:
    """A fit under way: read its fields as often as you like."""

    graph: Graph | None  # let go when done
    alpha: float
    steps: int
    made: float = field(default_factory=time.monotonic)
    asked: float = field(default_factory=time.monotonic)  # when somebody last wanted it
    sentence: str = "Waiting to fit the UMAP"
    fraction: float = 0.0
    map: Map | None = None
    error: str | None = None

    @property
    def done(self) -> bool:
        return self.map is not None or self.error is not None


_jobs: dict[str, Job] = {}
_guard = threading.Lock()
_worker: threading.Thread | None = None
_ending = threading.Event()


def background_fit(graph: Graph, alpha: float, steps: int) -> Job:
    """The job that fits this map, started if it is not there; every session gets the same one.

    One map is fitted at a time, the one asked for last first; call this again to poll. A job that
    nobody has asked for in five seconds before its turn is dropped.
    """
    global _worker
    key = map_key(graph, choose(graph), alpha, steps)
    with _guard:
        job = _jobs.get(key)
        if job is None:
            job = _jobs[key] = Job(graph, alpha, steps)
            for old in [k for k, j in _jobs.items() if j.done][:-8]:
                del _jobs[old]
        job.asked = time.monotonic()
        if job.map is not None and job.map.fitted:
            remember(fitted_maps, key, job.map)  # memory may have let it go, and the disk be full
        if not job.done and (_worker is None or not _worker.is_alive()):
            _worker = threading.Thread(target=_work, name="spear-map", daemon=True)
            _worker.start()
    return job


def step_back() -> None:
    """Let the pages go first: a lower priority for this thread, where the system has them."""
    with suppress(AttributeError, OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


def _work() -> None:
    """Fit waiting maps until there is none."""
    global _worker
    step_back()
    while True:
        with _guard:
            now = time.monotonic()
            for key in [k for k, j in _jobs.items() if not j.done and now - j.asked > FORGET]:
                del _jobs[key]
            waiting = [j for j in _jobs.values() if not j.done]
            if not waiting or _ending.is_set():
                _worker = None
                return
            job = max(waiting, key=lambda j: j.asked)
        rest = job.made + REST - now
        if rest > 0:
            _ending.wait(min(rest, 0.2))  # another one may be asked for meanwhile
        else:
            _fit_job(job)


def _fit_job(job: Job) -> None:
    def say(sentence: str, fraction: float) -> None:
        job.sentence, job.fraction = sentence, fraction

    try:
        assert job.graph is not None
        job.map = fit(job.graph, job.alpha, job.steps, say)
    except SpearError as error:
        job.error = str(error)
    except Exception as error:  # whatever umap or numba raise: the page shows it as a sentence
        job.error = f"The map could not be fitted ({error}); the PCA preview stays."
    job.graph = None


def _end() -> None:
    """Leave no thread behind that still computes: the interpreter would abort under it."""
    _ending.set()
    fitting.stop()
    if _worker is not None:
        _worker.join(timeout=30)


atexit.register(_end)
