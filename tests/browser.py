"""The app in a real browser: a server of its own, a tab of Chromium, and what one does there."""

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
from urllib.parse import parse_qs, urlparse

import pytest

from pages.shared.pages import PAGES

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


def eventually(tab: Any, check: Callable[[], None], seconds: float = 180) -> None:
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
def running_app(script: Path = ROOT / "app.py", log: Path | None = None) -> Iterator[str]:
    """The address of the app (or another script), served on a free port of loopback.

    What it prints goes into the log, if one is named.
    """
    with running_server(script, log) as (address, _):
        yield address


@contextmanager
def running_server(
    script: Path = ROOT / "app.py", log: Path | None = None
) -> Iterator[tuple[str, int]]:
    """The address of an app and the id of the process that serves it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"),
        *("--server.address", "127.0.0.1", "--server.port", str(port)),
    ]
    with (log or Path(os.devnull)).open("w") as out:
        server = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(3000):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5)
                break
            except OSError:
                assert server.poll() is None, "the app ended by itself"
                time.sleep(0.2)
        yield address, server.pid
    finally:
        server.terminate()
        server.wait(timeout=600)


def settled(tab: Any, sign: str = "[data-testid=stMetric]") -> None:
    """Wait until a page is drawn and nothing runs any more."""
    tab.wait_for_selector(IDLE, timeout=180_000)
    tab.wait_for_selector(sign, timeout=180_000)
    tab.get_by_role("button", name="Copy link").wait_for(timeout=180_000)  # the last to be drawn
    tab.wait_for_timeout(400)
    tab.wait_for_selector(IDLE, timeout=180_000)


def metric(tab: Any, label: str = "Accuracy on test nodes") -> str:
    """The percentage that a figure of the page shows."""
    lines = tab.locator("[data-testid=stMetric]", has_text=label).inner_text().split("\n")
    return next(line for line in lines if line.endswith("%"))


def query(tab: Any) -> dict[str, str]:
    """The parameters in the address bar."""
    return {k: v[0] for k, v in parse_qs(urlparse(tab.url).query).items()}


def press(tab: Any, name: str, key: str, times: int = 1) -> None:
    """Move a slider and wait until the link has followed."""
    before = query(tab)
    slider = tab.get_by_role("slider", name=name)
    for _ in range(times):
        slider.press(key)
    eventually(tab, lambda: differs(query(tab), before))
    settled(tab)


def differs(now: object, before: object) -> None:
    assert now != before


def wait_for_query(tab: Any, name: str, value: str | None, timeout: float = 60_000) -> None:
    """Until the address bar says so."""
    tab.wait_for_function(
        "([name, value]) => new URLSearchParams(location.search).get(name) === value",
        arg=[name, value],
        timeout=timeout,
    )


def node_is(tab: Any, number: str) -> None:
    assert tab.get_by_role("spinbutton", name="Node").input_value() == number


def go_to(tab: Any, title: str) -> None:
    """Open another page by the menu of its group."""
    group = next(page.group for page in PAGES if page.title == title)
    tab.get_by_test_id("stTopNavSection").filter(has_text=group).click()
    tab.get_by_role("menuitem", name=title, exact=True).click()
