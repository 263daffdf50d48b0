"""Flower's own command line, called as a person would call it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from spear_core.errors import SpearError
from spear_core.federation.bundle import ROOT, bundle
from spear_core.federation.lines import toml
from spear_core.federation.names import RUN_SETTINGS, SHAPE
from spear_core.federation.report import REPORT, clear, read_folder, write_traffic
from spear_core.settings import Settings

QUIET = {  # no telemetry, no look for updates, and nothing installed behind our back
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
}


def environment(**more: str) -> dict[str, str]:
    """The environment of every Flower process: this Python's programs and this engine first."""
    paths = {
        "PATH": [str(Path(sys.executable).parent), os.environ.get("PATH", "")],
        "PYTHONPATH": [str(ROOT), os.environ.get("PYTHONPATH", "")],
    }
    joined = {name: os.pathsep.join(filter(None, parts)) for name, parts in paths.items()}
    return {**os.environ, **QUIET, **joined, "PYTHONUNBUFFERED": "1", **more}


def program(name: str) -> str:
    """A program of this very environment."""
    beside = Path(sys.executable).parent / name
    if not beside.exists():
        raise SpearError(
            f"{name} is not installed; say pip install -r requirements-federation.txt "
            "in the project's folder."
        )
    return str(beside)


def flwr(env: Mapping[str, str], *words: str, timeout: float = 300) -> str:
    """What a `flwr` command prints, or one sentence."""
    try:
        done = subprocess.run(
            [program("flwr"), *words], env=env, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        raise SpearError(f"flwr {words[0]} did not end within {timeout:g} s.") from None
    if done.returncode:
        raise SpearError(f"flwr {words[0]} failed: {_why(done.stderr or done.stdout)}")
    return done.stdout


def flwr_json(env: Mapping[str, str], *words: str, timeout: float = 300) -> dict[str, Any]:
    """What a `flwr` command answers as JSON, in which a failure comes with an exit code of 0."""
    said = flwr(env, *words, "--format", "json", timeout=timeout)
    try:
        answer: dict[str, Any] = json.loads(said)
    except ValueError:
        raise SpearError(f"flwr {words[0]} failed: {_why(said)}") from None
    if not answer.get("success"):
        lines = str(answer.get("error-message", "")).strip().splitlines()  # the last one is why
        raise SpearError(f"flwr {words[0]} failed: {lines[-1] if lines else 'it said nothing'}")
    return answer


def run_config(settings: Settings, out: Path, nodes: int, **more: Any) -> dict[str, Any]:
    """The run config for these settings, C and F among them, every node expected."""
    names = (*RUN_SETTINGS, *SHAPE)
    config = {name.replace("_", "-"): getattr(settings, name) for name in names}
    return config | {"out": str(out.absolute()), "min-nodes": nodes, "quorum": nodes, **more}


def run_app(
    env: Mapping[str, str],
    link: str,
    config: Mapping[str, Any],
    app: Path | None = None,
    timeout: float = 3600,
) -> dict[str, Any]:
    """One run of our app (or another), to its end; gives its entry in the SuperLink's list.

    `flwr run` exits with 0 also when the server failed, so the list is asked for the truth.
    """
    end = time.monotonic() + timeout
    clear(Path(config["out"]))
    words = " ".join(f"{key}={toml(value)}" for key, value in config.items())
    with bundle() if app is None else nullcontext(app) as folder:
        started = flwr_json(env, "run", str(folder), link, "--stream", "-c", words, timeout=timeout)
    while True:
        listed = flwr_json(env, "list", link, "--run-id", started["run-id"])
        entry: dict[str, Any] = listed["runs"][0]
        if str(entry["status"]).startswith("finished"):
            write_traffic(Path(config["out"]), entry["network-traffic"])
            return entry
        if time.monotonic() > end:
            raise SpearError(f"The run did not end within {timeout:g} s; see flwr list {link}.")
        time.sleep(1)  # the stream may end a moment before the run


def check_ended(entry: Mapping[str, Any], out: Path) -> None:
    """Raise one sentence unless a run was completed."""
    if entry["status"] != "finished:completed":
        said = read_folder(out)[0].failure if (out / REPORT).is_file() else ""
        why = said or "See the log of the SuperLink."
        raise SpearError(f"The federated run ended as {entry['status']}. {why}")


def _why(said: str) -> str:
    """The words of an error, without the box that Flower draws around them."""
    lines = (line.strip(" │╭╰─╮╯❌") for line in said.splitlines())
    words = " ".join(line for line in lines if line and line != "Error")
    return words[-300:] or "it said nothing"
