"""`python -m spear_core export-client` and `federation-demo`."""

import argparse
from pathlib import Path
from typing import Any

from spear_core.errors import SpearError
from spear_core.federation.files import client_graph, write_client
from spear_core.run import run
from spear_core.settings import Settings


def add(commands: Any) -> list[argparse.ArgumentParser]:
    """Both commands, added to argparse's subparsers; the caller adds every setting to them."""
    export: argparse.ArgumentParser = commands.add_parser(
        "export-client", help="write one client's graph to a file, for a real federation"
    )
    export.add_argument("--client", required=True, help="its number, or all")
    export.add_argument("--out", required=True, type=Path, help="the file (a folder for all)")
    export.set_defaults(federate=export_client)
    demo: argparse.ArgumentParser = commands.add_parser(
        "federation-demo", help="run a real federation on this machine and compare"
    )
    demo.add_argument("--keep", type=Path, help="a folder in which everything is left to look at")
    demo.set_defaults(federate=federation_demo)
    return [export, demo]


def export_client(settings: Settings, args: argparse.Namespace) -> None:
    """Write one client's file, or everybody's."""
    held = run(settings).held
    if args.client == "all":
        numbers = list(range(held.clients))
        paths = [args.out / f"client-{k}.npz" for k in numbers]
    elif args.client.isdigit() and int(args.client) < held.clients:
        numbers, paths = [int(args.client)], [args.out]
    else:
        raise SpearError(f"--client must be 0 to {held.clients - 1}, or all; got {args.client}.")
    for k, path in zip(numbers, paths, strict=True):
        graph = client_graph(held, k)
        write_client(path, graph)
        trained = int(graph.train.sum())
        print(f"{path}: {graph.num_nodes} nodes, {graph.num_edges} edges, {trained} for training")


def federation_demo(settings: Settings, args: argparse.Namespace) -> None:
    """The demo; Flower is asked for only here."""
    try:
        import flwr  # noqa: F401
    except ImportError:
        raise SpearError(
            "Flower is not installed; say pip install -r requirements-federation.txt."
        ) from None
    from spear_core.federation.demo import main

    main(settings, keep=args.keep)
