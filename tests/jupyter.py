"""JupyterLab in a real browser: a server of its own, notebooks in it, and what one does there."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat

from tests.browser import ROOT, eventually

TOKEN = "spear"
THEMES = "@jupyterlab/apputils-extension:themes"
IDLE = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
SLOW = 180_000  # milliseconds that a kernel may take to start on a busy machine


@contextmanager
def running_lab(folder: Path, program: str = "jupyterlab") -> Iterator[str]:
    """The address of JupyterLab on a folder, on a free port of loopback, apart from the user's."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = folder.with_name(f"{folder.name}-jupyter")
    own.mkdir(exist_ok=True)
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    env = os.environ | {name: str(own / name.lower()) for name in names}
    env["PYTHONPATH"] = str(ROOT)
    command = [
        *(sys.executable, "-m", program, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"),
        *(f"--IdentityProvider.token={TOKEN}", "--LabApp.news_url="),
    ]
    address = f"http://127.0.0.1:{port}"
    with (own / "log.txt").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=env)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5)
                break
            except OSError:
                assert server.poll() is None, (own / "log.txt").read_text()
                time.sleep(0.2)
        put(address, "@jupyterlab/apputils-extension:notification", fetchNews="false")
        yield address
    finally:
        server.terminate()
        server.wait(timeout=600)


def write(folder: Path, name: str, *cells: str) -> None:
    """A notebook of code cells."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(book, folder / f"{name}.ipynb")


def put(address: str, plugin: str, **values: Any) -> None:
    """Set what a part of JupyterLab reads at the start, from the next page on."""
    request = urllib.request.Request(
        f"{address}/lab/api/settings/{plugin}",
        data=json.dumps({"raw": json.dumps(values)}).encode(),
        headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request, timeout=30).close()


def put_theme(address: str, dark: bool) -> None:
    put(address, THEMES, theme="JupyterLab Dark" if dark else "JupyterLab Light")


def open_notebook(tab: Any, address: str, name: str, path: str = "lab/tree") -> None:
    """Open a notebook and wait for its kernel."""
    more = "&reset" if path.startswith("lab") else ""
    tab.goto(f"{address}/{path}/{name}.ipynb?token={TOKEN}{more}", timeout=SLOW)
    tab.wait_for_selector(".jp-Notebook .jp-Cell", timeout=SLOW)
    tab.wait_for_selector(IDLE, timeout=SLOW)


def run_cell(tab: Any, number: int) -> Any:
    """Run one cell and wait for it; gives its part of the page."""
    cell = tab.locator(".jp-Notebook .jp-CodeCell").nth(number)
    before = _prompt(cell)
    cell.locator(".cm-content").first.click()
    eventually(tab, lambda: _has_run(tab, cell, before), SLOW / 1000)
    return cell


def _has_run(tab: Any, cell: Any, before: str) -> None:
    """Asks again where a kernel that was not there yet let the cell go without a word."""
    now = _prompt(cell)
    if now in (before, "[ ]:"):
        tab.keyboard.press("Control+Enter")
    assert re.fullmatch(r"\[\d+\]:", now), now
    assert now != before


def _prompt(cell: Any) -> str:
    return str(cell.locator(".jp-InputPrompt").inner_text())


def printed(tab: Any, number: int) -> str:
    """What a cell prints when it is run now."""
    return run_cell(tab, number).locator(".jp-OutputArea-output").inner_text().strip()


def save(tab: Any) -> None:
    """Save the notebook and wait until it is on disk."""
    with tab.expect_response(
        lambda r: r.request.method == "PUT" and "/api/contents/" in r.url, timeout=SLOW
    ):
        tab.keyboard.press("Control+s")


def restart(tab: Any) -> None:
    """Restart the kernel as a person does."""
    tab.locator('[data-jp-item-name="restart"]').click()
    with tab.expect_response(lambda r: r.url.partition("?")[0].endswith("/restart"), timeout=SLOW):
        tab.locator(".jp-Dialog .jp-mod-accept").click()
    tab.wait_for_selector(IDLE, timeout=SLOW)


def outputs(folder: Path, name: str) -> Sequence[Any]:
    """The outputs of a saved notebook."""
    book = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    return [out for cell in book.cells for out in cell.get("outputs", [])]


def end_kernels(address: str) -> None:
    """End every kernel of the server."""
    head = {"Authorization": f"token {TOKEN}"}
    request = urllib.request.Request(f"{address}/api/sessions", headers=head)
    with urllib.request.urlopen(request, timeout=30) as answer:
        sessions = [one["id"] for one in json.load(answer)]
    for one in sessions:
        gone = urllib.request.Request(
            f"{address}/api/sessions/{one}", headers=head, method="DELETE"
        )
        urllib.request.urlopen(gone, timeout=60).close()
