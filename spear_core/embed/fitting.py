"""UMAP in a process of its own, so that fitting never slows a click or the end of the program.

umap compiles for about 20 s before its first fit, most of it with the interpreter's lock held: in a
thread of this process every page would wait for it. The process serves one fit after the other and
ends with this one.
"""

import atexit
import os
import select
import signal
import subprocess
import sys
import threading
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from torch import Tensor

from spear_core.datasets.store import Progress
from spear_core.wanted import Cancelled, still_wanted

NEIGHBOURS = 15
MIN_DIST = 0.4  # UMAP's own 0.1 makes groups so tight that prototypes cover each other
A, B = 0.76687, 1.22256  # of UMAP's curve 1 / (1 + a d^2b) for that min_dist and spread 1

LOOK = 0.2  # seconds between two looks whether the fit is still wanted

_guard = threading.Lock()
_child: subprocess.Popen[bytes] | None = None
_leash: int | None = None  # our end of a pipe: the system ends the child when it is closed


def layout(near: Tensor, start: Tensor, say: Progress) -> np.ndarray:
    """Nodes in the plane (M, 2) from their cosines (M, M), turned to lie like the start (M, 2)."""
    near = near.clone().fill_diagonal_(2)  # itself first
    cosine, index = near.topk(min(NEIGHBOURS, len(near) - 1), dim=1)
    like = start.cpu().numpy()
    arrays = {
        "index": index.cpu().numpy(),
        "far": (1 - cosine).clamp_min(0).cpu().numpy(),
        "start": like,
        "min_dist": np.array(MIN_DIST),
    }
    say("Fitting UMAP, which takes about 20 s more the first time", 0.3)
    return _turned(_ask(arrays), like)


def _turned(xy: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Places (M, 2) turned and mirrored to lie as much as possible like other ones (M, 2)."""
    xy = xy - xy.mean(0)
    u, _, vt = np.linalg.svd(xy.T @ like)
    return np.asarray(xy @ (u @ vt))


def _ask(arrays: dict[str, np.ndarray]) -> np.ndarray:
    """The child's answer to one question; it is started if need be."""
    with _guard:
        child = _started()
        assert child.stdin is not None
        assert child.stdout is not None
        packed = BytesIO()
        np.savez(packed, **arrays)  # type: ignore[arg-type]
        try:
            child.stdin.write(len(packed.getvalue()).to_bytes(8, "big") + packed.getvalue())
            child.stdin.flush()
        except OSError:
            pass  # it has ended: the answer below is empty too
        answer = _answer(child)
        if not answer:
            still_wanted()  # it may have been ended because nobody waits
            raise RuntimeError("the fitting process ended")
    with np.load(BytesIO(answer), allow_pickle=False) as found:
        if "error" in found:
            raise RuntimeError(str(found["error"]))
        return np.asarray(found["xy"])


def _answer(child: subprocess.Popen[bytes]) -> bytes:
    """What the child answers, nothing if it ends. A fit that nobody waits for any more is left.

    The child then says so at once, or when it has compiled, which the next fit needs.
    """
    assert child.stdout is not None
    try:
        while not select.select([child.stdout], [], [], LOOK)[0]:
            still_wanted()
    except Cancelled:
        child.send_signal(signal.SIGINT)
        _read(child.stdout)
        raise
    except BaseException:  # nobody may take this answer for that to the next question
        child.kill()
        raise
    return _read(child.stdout)


def _read(answers: IO[bytes]) -> bytes:
    size = int.from_bytes(answers.read(8), "big")
    answer = answers.read(size)
    return answer if len(answer) == size else b""


def _started() -> subprocess.Popen[bytes]:
    global _child, _leash
    if _child is None or _child.poll() is not None:
        script = Path(__file__).with_name("fitting_process.py")
        alone = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if _leash is not None:
            os.close(_leash)
        theirs, _leash = os.pipe()
        try:
            _child = subprocess.Popen(
                [sys.executable, "-P", str(script), str(theirs)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **alone},
                pass_fds=(theirs,),
            )
        finally:
            os.close(theirs)
    return _child


def stop() -> None:
    """End the process; whoever waits for an answer gets an error."""
    if _child is not None:
        _child.kill()
        _child.wait()


atexit.register(stop)
