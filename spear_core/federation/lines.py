"""The shell commands of a federation with given settings, as people type them."""

import shlex
from collections.abc import Iterable
from dataclasses import fields

from spear_core.federation.names import RUN_SETTINGS, SHAPE
from spear_core.fields import as_options, changed
from spear_core.settings import Settings, defaults

TABLE = {True: "true", False: "false"}


def options(settings: Settings) -> str:
    """The options of our own command line for everything that is not usual for the dataset."""
    names = [f.name for f in fields(Settings) if f.name != "dataset"]
    words = ["--dataset", settings.dataset]
    return shlex.join([*words, *_flags(settings, defaults(settings.dataset), names)])


def demo_line(settings: Settings) -> str:
    return f"python -m spear_core federation-demo {options(settings)}"


def export_line(settings: Settings) -> str:
    return "python -m spear_core export-client --client 0 --out client-0.npz " + options(settings)


def node_lines() -> list[str]:
    """Start one node; the names in capitals are yours."""
    return [
        "flower-supernode --superlink SERVER:8000 --root-certificates keys/ca.crt \\",
        "  --auth-supernode-private-key keys/node-0.key \\",
        "  --node-config 'data-path=\"/WHERE/client-0.npz\"'",
    ]


def federate_line(settings: Settings) -> str:
    """One run through a SuperLink that is there, with our own command."""
    words = ["my-federation", "--min-nodes", str(settings.clients)]
    words += [word for name in SHAPE for word in (f"--{name}", str(getattr(settings, name)))]
    return "python -m spear_core federate " + shlex.join(
        [*words, *_flags(settings, defaults(Settings().dataset), RUN_SETTINGS)]
    )


def run_line(settings: Settings) -> str:
    """Flower's own command for a run, with what differs from the app's defaults."""
    words = [f"min-nodes={settings.clients}", f"quorum={settings.clients}"]
    words += [f"{name}={getattr(settings, name)}" for name in SHAPE]
    given = changed(settings)
    words += [f"{n.replace('_', '-')}={toml(given[n])}" for n in RUN_SETTINGS if n in given]
    return f"flwr run . my-federation --stream -c {shlex.quote(' '.join(words))}"


def _flags(settings: Settings, usual: Settings, names: Iterable[str]) -> list[str]:
    given = changed(settings, usual)
    return as_options({name: given[name] for name in names if name in given})


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return TABLE[value]
    return f'"{value}"' if isinstance(value, str) else str(value)
