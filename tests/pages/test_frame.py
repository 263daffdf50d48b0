"""What a session remembers of the runs it has shown."""

import gc
import weakref

from pages.shared import frame
from spear_core import Settings, run


def test_a_session_keeps_what_it_needs_of_a_run_not_the_run(monkeypatch):
    monkeypatch.setattr(frame.st, "session_state", {})
    first = run(Settings(dataset="karate", clients=3))
    accuracy, kept = first.metrics.accuracy, weakref.ref(first)
    assert frame.last_shown(first) is None
    second = run(Settings(dataset="karate", clients=3, alpha=0.9))
    assert frame.last_shown(second).result is first  # as long as somebody has it
    del first
    gc.collect()
    assert kept() is None
    before = frame.last_shown(second)
    assert (before.accuracy, before.result) == (accuracy, None)
