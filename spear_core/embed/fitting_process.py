"""Run by fitting.py as a script: fits one UMAP after the other, arrays in, places out.

It imports nothing of this package, whose torch it does not need. It ends when its input does, in
the midst of a fit too: then whoever asked was killed. A signal to interrupt means that nobody waits
for the fit any more; what was compiled stays.
"""

import fcntl
import os
import select
import signal
import sys
import threading
import warnings
from contextlib import suppress
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np

_fitting = False  # whether a fit can be left at once
_left = False  # whether nobody waits for the present one


class _Left(BaseException):
    """Nobody waits for this fit."""


def main() -> None:
    global _left
    _put_on(int(sys.argv[1]))
    _give_way()
    signal.signal(signal.SIGINT, _leave)
    threading.Thread(target=_end_with_input, daemon=True).start()
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed from here on must not reach the answers
    while size := int.from_bytes(questions.read(8), "big"):
        _left = False  # a signal that came with the last answer was meant for that
        with np.load(BytesIO(questions.read(size)), allow_pickle=False) as asked:
            given = {name: asked[name] for name in asked}
        try:
            answer = {"xy": fit(**given)}
        except _Left:
            answer = {"error": np.array("nobody waits for it")}
        except Exception as error:  # whatever umap or numba raise: told to whoever asked
            answer = {"error": np.array(str(error))}
        packed = BytesIO()
        np.savez(packed, **answer)  # type: ignore[arg-type]
        answers.write(len(packed.getvalue()).to_bytes(8, "big") + packed.getvalue())
        answers.flush()


def _leave(*_: Any) -> None:
    global _left
    _left = True
    if _fitting:
        raise _Left


def _put_on(leash: int) -> None:
    """Have Linux itself end this process when its parent is gone, also while it is stopped.

    The signal of `prctl` comes when the thread ends that has started us, which is sooner.
    """
    with suppress(AttributeError, OSError):  # elsewhere our own thread sees it, in its time
        fcntl.fcntl(leash, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(leash, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(leash, fcntl.F_SETFL, fcntl.fcntl(leash, fcntl.F_GETFL) | os.O_ASYNC)


def _give_way() -> None:
    """Run when nobody else wants to: in the idle class, or as low as there is."""
    with suppress(AttributeError, OSError):  # not on every system, not everywhere allowed
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        return
    if hasattr(os, "nice"):
        os.nice(19)


def _end_with_input() -> None:
    """End at once when the other end of our input is closed, where the system can tell."""
    if hasattr(select, "poll"):
        hung_up = select.poll()
        hung_up.register(0, 0)  # a hang-up is told unasked
        hung_up.poll()
        os._exit(0)


def fit(index: np.ndarray, far: np.ndarray, start: np.ndarray, min_dist: np.ndarray) -> np.ndarray:
    """Places (M, 2) from every node's neighbours and their distances, itself first, (M, k) each."""
    global _fitting
    _compile()
    _fitting = True
    try:
        if _left:
            raise _Left
        return _fitted(index, far, start, min_dist)
    finally:
        _fitting = False


@cache
def _compile() -> None:
    """Have umap compile, which takes far longer than a fit, by a ring of twenty nodes."""
    nodes = np.arange(20)
    index = (nodes[:, None] + np.arange(5)) % 20
    far = np.tile(np.linspace(0, 0.5, 5, dtype=np.float32), (20, 1))
    angle = 2 * np.pi * nodes / 20
    start = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    _fitted(index, far, start, np.array(0.4))


def _fitted(
    index: np.ndarray, far: np.ndarray, start: np.ndarray, min_dist: np.ndarray
) -> np.ndarray:
    warnings.filterwarnings("ignore", message="precomputed_knn")  # says that it was understood
    from umap import UMAP

    reducer = UMAP(
        n_neighbors=index.shape[1],
        metric="cosine",
        min_dist=float(min_dist),
        init=start.copy(),
        precomputed_knn=(index, far, None),
        force_approximation_algorithm=True,  # else small data is measured pair by pair again
        random_state=0,
        n_jobs=1,
    )
    return np.asarray(reducer.fit_transform(start))  # its length counts, the neighbours decide


if __name__ == "__main__":
    main()
