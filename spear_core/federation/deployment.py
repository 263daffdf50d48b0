"""A whole deployment on loopback: a SuperLink and its SuperNodes as processes, TLS and keys on."""

import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from spear_core.errors import SpearError
from spear_core.federation.flower import environment, program, run_app
from spear_core.federation.keys import write_certificates, write_node_key
from spear_core.federation.lines import toml

LINK = "spear-loopback"
PORTS = range(20_000, 32_000)  # below those that the system gives to outgoing connections
REGISTER = """
import sys
from flwr.cli.app import app
for key in sys.argv[2:]:
    app(["supernode", "register", key, sys.argv[1]], standalone_mode=False)
"""  # one process for all keys: it needs seconds to start


class Deployment:
    """Starts processes, remembers them, and stops exactly those."""

    def __init__(self, folder: Path, app: Path | None = None) -> None:
        self.folder, self.app = folder.absolute(), app
        self.keys = self.folder / "keys"
        self.port = free_port()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        # all of them share one machine, so each computes with one thread
        self.env = environment(FLWR_HOME=str(self.folder / "flwr"), OMP_NUM_THREADS="1")

    def __enter__(self) -> "Deployment":
        (self.folder / "flwr").mkdir(parents=True, exist_ok=True)
        write_certificates(self.keys)
        config = (
            f'[superlink]\ndefault = "{LINK}"\n\n[superlink.{LINK}]\n'
            f'address = "127.0.0.1:{self.port}"\nroot-certificates = "{self.keys / "ca.crt"}"\n'
        )
        (self.folder / "flwr" / "config.toml").write_text(config)
        try:
            self._start(
                *("superlink", "flower-superlink", "--enable-supernode-auth"),
                *("--host", "127.0.0.1", "--port", str(self.port)),
                *("--ssl-ca-certfile", str(self.keys / "ca.crt")),
                *("--ssl-certfile", str(self.keys / "server.crt")),
                *("--ssl-keyfile", str(self.keys / "server.key")),
            )
            self._await_superlink()
        except BaseException:  # there is no __exit__ without an __enter__
            self.stop(*self.processes)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with undisturbed():
            nodes = [name for name in self.processes if name != "superlink"]
            self.stop(*nodes)  # they say goodbye to the SuperLink
            self.stop("superlink")

    def add_nodes(self, nodes: Mapping[str, Mapping[str, str]], register: bool = True) -> None:
        """SuperNodes by name, each with its node config and a key of its own.

        Those that are not registered are refused.
        """
        keys = {name: write_node_key(self.keys, name) for name in nodes}
        if register:
            self._register(public for _, public in keys.values())
        for name, config in nodes.items():
            self._start(
                *(name, "flower-supernode", "--superlink", f"127.0.0.1:{self.port}"),
                *("--host", "127.0.0.1", "--port", str(free_port())),
                *("--root-certificates", str(self.keys / "ca.crt")),
                *("--auth-supernode-private-key", str(keys[name][0])),
                *("--node-config", " ".join(f"{k}={toml(v)}" for k, v in config.items())),
            )

    def run(self, config: Mapping[str, Any], timeout: float = 1200) -> dict[str, Any]:
        """One run of the app; its entry in the SuperLink's list when it has ended."""
        return run_app(self.env, LINK, config, self.app, timeout)

    def stop(self, *names: str, kill: bool = False) -> None:
        """End these processes and what they started, by pid; `kill` gives them no time."""
        started = [self.processes.pop(name) for name in names if name in self.processes]
        family = [member for process in started for member in _family(process.pid)]
        if not kill:
            for member in family:
                _end(member, by_force=False)
            _, family = psutil.wait_procs(family, timeout=15)
        for member in family:
            _end(member, by_force=True)
        psutil.wait_procs(family, timeout=15)
        for process in started:
            process.wait()

    def log(self, name: str) -> str:
        """What a process has said so far."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _register(self, publics: Any) -> None:
        done = subprocess.run(
            [sys.executable, "-c", REGISTER, LINK, *map(str, publics)],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            why = said[-1] if said else "Flower said nothing"
            raise SpearError(f"The nodes could not be registered: {why}")

    def _start(self, name: str, what: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [program(what), *words],
                env=self.env,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us: we stop them in order
            )

    def _await_superlink(self, timeout: float = 120) -> None:
        end = time.monotonic() + timeout
        while time.monotonic() < end and self.processes["superlink"].poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        said = self.log("superlink").strip().splitlines()
        raise SpearError(f"The SuperLink did not start: {said[-1] if said else 'it said nothing'}")


@contextmanager
def undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not keep us from stopping what we started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    for _ in range(1000):
        port = PORTS[secrets.randbelow(len(PORTS))]
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SpearError("There is no free port on this machine; end some other servers first.")


def _family(pid: int) -> list[psutil.Process]:
    """A process and everything that it started."""
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _end(process: psutil.Process, by_force: bool) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill() if by_force else process.terminate()
