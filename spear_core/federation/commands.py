"""The shell commands of a federation with given settings, as people type them."""

import shlex
from dataclasses import fields

from spear_core.federation.names import RUN_SETTINGS
from spear_core.settings import Settings, defaults

TABLE = {True: "true", False: "false"}


def options(settings: Settings) -> str:
    """The options of our own command line for everything that is not usual for the dataset."""
    usual = defaults(settings.dataset)
    words = ["--dataset", settings.dataset]
    for f in fields(Settings):
        value = getattr(settings, f.name)
        if f.name == "dataset" or value == getattr(usual, f.name):
            continue
        flag = f.name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


def demo_line(settings: Settings) -> str:
    return f"python -m spear_core federation-demo {options(settings)}"


def export_line(settings: Settings) -> str:
    return "python -m spear_core export-client --client 0 --out client-0.npz " + options(settings)


def node_lines() -> list[str]:
    """Start one node; the three names in capitals are yours."""
    return [
        "flower-supernode --superlink SERVER:8000 --root-certificates ca.crt \\",
        "  --auth-supernode-private-key node-0.key \\",
        "  --node-config 'data-path=\"client-0.npz\"'",
    ]


def run_line(settings: Settings) -> str:
    """One run that tells Flower what differs from the app's defaults."""
    usual, words = Settings(), [f"min-nodes={settings.clients}", f"quorum={settings.clients}"]
    for name in RUN_SETTINGS:
        value = getattr(settings, name)
        if value != getattr(usual, name):
            words.append(f"{name.replace('_', '-')}={toml(value)}")
    return f"flwr run . my-federation --stream -c {shlex.quote(' '.join(words))}"


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return TABLE[value]
    return f'"{value}"' if isinstance(value, str) else str(value)
