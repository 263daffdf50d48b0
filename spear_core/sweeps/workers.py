"""Who measures the blocks of a sweep: this process, or the workers of an executor."""

import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice
from typing import Any

from spear_core.errors import SpearError
from spear_core.sweeps.block import Block, measure_block
from spear_core.sweeps.store import version
from spear_core.wanted import still_wanted

TRIES = 4  # how often a block is handed out whose worker was lost
AHEAD = 1000  # blocks handed out at once
POLL = 0.2  # seconds between two looks at `stop` while workers are busy

Measured = tuple[Block, dict[str, Any]]  # a block and its record
Attempted = dict[str, Any] | Exception


def measured(
    blocks: list[Block],
    measures: tuple[str, ...],
    executor: Executor | None,
    stop: Callable[[], bool],
) -> Generator[Measured, None, None]:
    """Every block with its record, as soon as it is there, until `stop()` is true."""
    engine = version()
    if executor is not None:
        yield from _by_workers(blocks, executor, (measures, engine), stop)
        return
    for block in blocks:
        if stop():
            return
        yield block, measure_block(block, measures, engine)


def attempted(block: Block, measures: tuple[str, ...], engine: str) -> Attempted:
    """A block's record, or the error on the way to it as a value, with where it was as a note.

    What a worker raises beyond that comes from its executor: the worker was lost.
    """
    try:
        return measure_block(block, measures, engine)
    except Exception as error:
        error.add_note("In the worker:\n" + traceback.format_exc())
        return error


def _by_workers(
    blocks: list[Block], executor: Executor, more: tuple[Any, ...], stop: Callable[[], bool]
) -> Iterator[Measured]:
    """Every block with its record, by workers; what a lost one was at is handed out again."""
    queue, out = iter(blocks), dict[Future[Attempted], tuple[Block, int]]()

    def hand_out(block: Block, attempt: int) -> None:
        try:
            out[executor.submit(attempted, block, *more)] = (block, attempt)
        except RuntimeError as gone:  # a broken pool, or one that was shut down
            raise _lost(gone) from gone

    try:
        while not stop():
            still_wanted()
            for block in islice(queue, AHEAD - len(out)):
                hand_out(block, 1)
            if not out:
                return
            for future in wait(out, POLL, FIRST_COMPLETED).done:
                block, attempt = out.pop(future)
                try:
                    record = future.result()
                except Exception as gone:  # every kind of executor has its own for a lost worker
                    if attempt == TRIES:
                        raise _lost(gone) from gone
                    hand_out(block, attempt + 1)
                    continue
                if isinstance(record, Exception):  # the worker is there: it is the work that failed
                    raise record
                yield block, record
    finally:
        for future in out:
            future.cancel()


def _lost(gone: Exception) -> SpearError:
    return SpearError(
        f"The workers were lost ({type(gone).__name__}: {gone}); what is done is kept, "
        "so call the same sweep again with a new executor."
    )
