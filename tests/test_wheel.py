"""The wheel, built from the source archive and used in an empty folder, far from the checkout."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.request
import zipfile
from pathlib import Path

import nbformat
import pytest

from tests.browser import FLAGS, IDLE, ROOT, need_browser
from tests.federation.flower import need_flower

pytestmark = pytest.mark.slow
APART = (".git", ".venv", ".*_cache", "__pycache__", ".hypothesis", "build", "*.egg-info", "data")
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, sys.argv[1])('dist'))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without an index, in a copy: setuptools leaves things beside the sources."""
    copy = tmp_path_factory.mktemp("build") / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*APART))
    with tarfile.open(built(copy, "build_sdist")) as archive:
        archive.extractall(copy.parent, filter="data")
        folder = copy.parent / archive.getnames()[0]
    return built(folder, "build_wheel")


def built(folder, what):
    command = [sys.executable, "-c", BUILD, what]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "dist" / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    """The `bin` of an environment with the wheel in it; what it needs is shared with ours."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    inside = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (inside / "shared.pth").write_text("\n".join(ours))
    pip = [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install"]
    subprocess.run([*pip, "--quiet", "--no-deps", "--no-index", wheel], check=True)
    return place / "bin"


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """Where and how it is run: an empty folder, and no way to find the checkout."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {"cwd": tmp_path_factory.mktemp("empty"), "env": env}


@pytest.fixture(scope="module")
def served(programs, apart):
    """`spear app` on a free port: its address and process; ended as a person would end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [programs / "spear", "app", "--port", str(port)]
    server = subprocess.Popen(
        command, **apart, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        address, end = f"http://127.0.0.1:{port}", time.monotonic() + 600
        while True:
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=5)
                break
            except OSError:
                assert server.poll() is None, server.stdout.read()
                assert time.monotonic() < end, "the app did not start"
                time.sleep(0.2)
        yield address, server
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=600)
        assert server.returncode == 0, said
        assert "Traceback" not in said
    finally:
        server.kill()
        server.wait()


def test_the_wheel_holds_two_packages_and_all_that_they_read(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"spear_core", "spear_app"}
    engine = {p.relative_to(ROOT).as_posix() for p in files(ROOT / "spear_core")}
    app = {f"spear_app/{p.relative_to(ROOT).as_posix()}" for p in files(ROOT / "pages")}
    assert engine | app <= names
    notebooks = {f"spear_app/notebooks/{p.name}" for p in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks <= names
    for name in ("app.py", ".streamlit/config.toml", "docs/teaching.md", "pyproject.toml"):
        assert f"spear_app/{name}" in names
    assert "spear_app/setup.py" not in names


RUN = """import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, kernel_name="python3", timeout=300).execute()
shown = [out.get("data", {}) for cell in book.cells for out in cell.get("outputs", [])]
print(sum("application/vnd.plotly.v1+json" in data for data in shown))
"""


def test_the_notebook_of_a_link_runs_there(programs, apart):
    link = "http://127.0.0.1:8501/split?v=2&dataset=karate&clients=3"
    said = subprocess.run(
        [programs / "spear", "notebook", "--settings", link, "--out", "view.ipynb"],
        **apart,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "jupyter lab view.ipynb" in said.stdout
    book = nbformat.read(apart["cwd"] / "view.ipynb", as_version=4)
    book.cells = [c for c in book.cells if "cora" not in c.metadata.get("tags", [])]
    nbformat.write(book, apart["cwd"] / "view.ipynb")
    env = apart["env"] | {"PLOTLY_RENDERER": "plotly_mimetype"}
    command = [programs / "python", "-c", RUN, "view.ipynb"]
    done = subprocess.run(command, **apart | {"env": env}, capture_output=True, text=True)
    (apart["cwd"] / "view.ipynb").unlink()
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 4


def files(folder):
    return (p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def test_its_metadata_says_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
        lines = archive.read(name).decode().partition("\n\n")[0].splitlines()
    needed = {line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")}
    assert {"numpy", "plotly", "torch<2.14,>=2.13"} <= needed
    assert any("flwr" in line and 'extra == "federation"' in line for line in needed)
    assert "License-Expression: Apache-2.0" in lines


def test_a_run_in_an_empty_folder(programs, apart):
    command = [programs / "spear", "run", "--dataset", "karate", "--json"]
    done = subprocess.run(command, **apart, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["settings"]["dataset"] == "karate"
    assert not list(apart["cwd"].iterdir())


def test_the_flower_app_is_packed_from_the_installed_engine(programs, apart):
    need_flower()
    code = (
        "from spear_core.federation.bundle import bundle\n"
        "with bundle() as folder:\n"
        "    from flwr.cli.build import build_fab_from_disk as build\n"
        "    import io, sys, zipfile\n"
        "    print(*zipfile.ZipFile(io.BytesIO(build(folder))).namelist())"
    )
    command = [programs / "python", "-c", code]
    done = subprocess.run(command, **apart, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    engine = {p.relative_to(ROOT).as_posix() for p in files(ROOT / "spear_core")}
    assert {name for name in engine if name.endswith(".py")} <= names
    assert "pyproject.toml" in names


def test_the_app_answers_on_loopback_alone(served, apart):
    psutil = pytest.importorskip("psutil")
    address, server = served
    assert urllib.request.urlopen(address, timeout=30).status == 200
    listening = psutil.Process(server.pid).net_connections("tcp")
    assert {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    assert not list(apart["cwd"].iterdir())


@pytest.mark.browser
def test_the_app_draws_its_pages(served):
    path = need_browser()
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        tab = browser.new_page()
        tab.goto(f"{served[0]}/?dataset=karate", timeout=120_000)
        tab.locator(IDLE).wait_for(timeout=120_000)
        accuracy = tab.locator("[data-testid=stMetric]", has_text="Accuracy on test nodes")
        expect(accuracy).to_contain_text("%", timeout=60_000)
        tab.goto(f"{served[0]}/learn", timeout=120_000)  # a page that reads a file of docs/
        tab.get_by_text("For teachers").click(timeout=60_000)
        expect(tab.get_by_text("In 45 minutes")).to_be_visible()
        expect(tab.locator("[data-testid=stException], [data-testid=stAlert]")).to_have_count(0)
        browser.close()
