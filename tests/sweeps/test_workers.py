"""A bug in the work is told from a lost worker: it is raised as it is, and not tried again."""

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from spear_core import Settings, SpearError
from spear_core.sweeps.block import Block
from spear_core.sweeps.workers import measured

BLOCK = Block(Settings(), (0.0, 0.5), (0.5,), (2,))


@pytest.mark.parametrize("error", [TypeError("a bug"), ConnectionError("a bug"), SpearError("a")])
def test_a_bug_in_a_block_is_raised_as_it_is_and_at_once(monkeypatch, error):
    tries = []

    def failing(*work):
        tries.append(work)
        raise error

    monkeypatch.setattr(sys.modules["spear_core.sweeps.workers"], "measure_block", failing)
    with ThreadPoolExecutor(1) as pool, pytest.raises(type(error)) as raised:
        list(measured([BLOCK], ("accuracy",), pool, lambda: False))
    assert raised.value is error
    assert "in failing" in raised.value.__notes__[0]
    assert len(tries) == 1


def test_a_bug_in_another_process_is_raised_as_it_is():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(AttributeError, match="points") as raised:
            list(measured([None], ("accuracy",), pool, lambda: False))  # no block at all
        assert "in measure_block" in raised.value.__notes__[0]
        assert pool.submit(abs, -1).result() == 1  # the worker was not lost
