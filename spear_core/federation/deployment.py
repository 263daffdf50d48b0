"""A whole deployment on loopback: a SuperLink and its SuperNodes as processes, TLS and keys on."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from spear_core.errors import SpearError
from spear_core.federation.commands import toml
from spear_core.federation.keys import write_certificates, write_node_key

ROOT = Path(__file__).resolve().parents[2]  # the project: its pyproject.toml names the app
LINK = "spear-loopback"


class Deployment:
    """Starts processes, remembers them, and stops exactly those."""

    def __init__(self, folder: Path, app: Path = ROOT) -> None:
        self.folder, self.app = folder, app
        self.port = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.env = os.environ | {
            "FLWR_HOME": str(folder / "flwr"),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "PYTHONUNBUFFERED": "1",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        }

    def __enter__(self) -> "Deployment":
        (self.folder / "flwr").mkdir(parents=True, exist_ok=True)
        keys = self.folder / "keys"
        write_certificates(keys)
        config = (
            f'[superlink]\ndefault = "{LINK}"\n\n[superlink.{LINK}]\n'
            f'address = "127.0.0.1:{self.port}"\nroot-certificates = "{keys / "ca.crt"}"\n'
        )
        (self.folder / "flwr" / "config.toml").write_text(config)
        self._start(
            "superlink",
            "flower-superlink",
            *("--host", "127.0.0.1", "--port", str(self.port), "--enable-supernode-auth"),
            *(
                "--ssl-ca-certfile",
                str(keys / "ca.crt"),
                "--ssl-certfile",
                str(keys / "server.crt"),
            ),
            *("--ssl-keyfile", str(keys / "server.key")),
        )
        self._await_port()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in reversed(list(self.processes)):
            self.stop(name)

    def add_node(self, name: str, data: Path, register: bool = True, **config: str) -> None:
        """A SuperNode with its own key and its own file; unregistered ones are refused."""
        private, public = write_node_key(self.folder / "keys", name)
        if register:
            self.flwr("supernode", "register", str(public), LINK)
        pairs = {"data-path": str(data), **config}
        self._start(
            name,
            "flower-supernode",
            *("--superlink", f"127.0.0.1:{self.port}", "--host", "127.0.0.1"),
            *("--port", str(free_port()), "--auth-supernode-private-key", str(private)),
            *("--root-certificates", str(self.folder / "keys" / "ca.crt")),
            *("--node-config", " ".join(f'{k}="{v}"' for k, v in pairs.items())),
        )

    def run(self, config: Mapping[str, Any], timeout: float = 300) -> dict[str, Any]:
        """One run of the app; its entry in the SuperLink's list when it has ended.

        `flwr run` exits with 0 also when the server failed, so the list is asked.
        """
        words = [f"{key}={toml(value)}" for key, value in config.items()]
        self.flwr("run", str(self.app), LINK, "-c", " ".join(words))
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            runs = json.loads(self.flwr("list", LINK, "--format", "json"))["runs"]
            newest = max(runs, key=lambda run: str(run["pending-at"]))
            if str(newest["status"]).startswith("finished"):
                return newest
            time.sleep(1)
        raise SpearError(f"The run did not end within {timeout:g} s; see {self.folder}.")

    def stop(self, name: str) -> None:
        """End one process and what it started, by pid."""
        process = self.processes.pop(name, None)
        if process is None:
            return
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sign)
                process.wait(timeout=15)
                break
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                break
        with suppress(ProcessLookupError):  # what it started and left behind
            os.killpg(process.pid, signal.SIGKILL)

    def flwr(self, *words: str) -> str:
        """A command of Flower's own command line; its output, or one sentence."""
        done = subprocess.run(
            [_program("flwr"), *words], env=self.env, capture_output=True, text=True, timeout=120
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise SpearError(f"flwr {words[0]} failed: {said[-1] if said else 'it said nothing'}")
        return done.stdout

    def log(self, name: str) -> str:
        """What a process has said so far."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _start(self, name: str, program: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [_program(program), *words],
                env=self.env,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _await_port(self, timeout: float = 60) -> None:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self.processes["superlink"].poll() is not None:
                break
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        raise SpearError(f"The SuperLink did not start: {self.log('superlink')[-300:]}")


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _program(name: str) -> str:
    """A program of this very environment."""
    beside = Path(sys.executable).parent / name
    if not beside.exists():
        raise SpearError(f"{name} is not installed; say pip install -r requirements-federation.txt")
    return str(beside)
