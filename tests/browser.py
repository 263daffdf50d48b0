"""The app in a real browser: a server of its own and a page of headless Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
IDLE = (
    "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"
)


def need_browser() -> str:
    """The path of Chromium; skip, with the reason, or fail where it must be."""
    path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
    )
    if not path:
        if os.environ.get("SPEAR_REQUIRE_BROWSER"):
            pytest.fail("there is no Chromium here")
        pytest.skip("there is no Chromium here")
    return path


def eventually(tab: Any, check: Callable[[], None], seconds: float = 60) -> None:
    """Try a check until it holds: a page is redrawn in its own time. The last failure stands."""
    end = time.monotonic() + seconds
    while True:
        try:
            return check()
        except Exception:
            if time.monotonic() > end:
                raise
        tab.wait_for_timeout(150)


@contextmanager
def running_app(script: Path = ROOT / "app.py") -> Iterator[str]:
    """The address of the app (or another script), served on a free port of loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"),
        *("--server.address", "127.0.0.1", "--server.port", str(port)),
    ]
    server = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5)
                break
            except OSError:
                assert server.poll() is None, "the app ended by itself"
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)
