"""`python -m spear_core export-client`, `federation-demo` and `federate`."""

import argparse
import signal
from pathlib import Path
from typing import Any

from spear_core.cli.options import add_settings, settings_of
from spear_core.errors import SpearError
from spear_core.federation.files import client_graph, write_client
from spear_core.federation.names import SHAPE, honest, offered
from spear_core.run import run


def add(commands: Any) -> None:
    """Add the three commands to argparse's subparsers."""
    export = commands.add_parser(
        "export-client", help="write one client's graph to a file, for a real federation"
    )
    export.add_argument("--client", required=True, help="its number, or all")
    export.add_argument("--out", required=True, type=Path, help="the file (a folder for all)")
    export.set_defaults(command=export_client)
    demo = commands.add_parser(
        "federation-demo", help="run a real federation on this machine and compare"
    )
    demo.add_argument("--keep", type=Path, help="a folder in which everything is left to look at")
    demo.set_defaults(command=federation_demo)
    real = commands.add_parser(
        "federate", help="run once through a SuperLink that is already there"
    )
    real.add_argument("link", help="its name in Flower's config.toml")
    real.add_argument("--min-nodes", type=int, default=2, help="joined nodes to start (default 2)")
    real.add_argument("--quorum", type=int, help="answers that are enough (default: all of them)")
    real.add_argument("--join-deadline", type=float, default=60.0, help=_wait("nodes"))
    real.add_argument("--answer-deadline", type=float, default=60.0, help=_wait("answers"))
    said = "every client counts how many of its test nodes are right (default yes; no if ε is set)"
    yes_or_no = argparse.BooleanOptionalAction
    real.add_argument("--evaluate", action=yes_or_no, default=True, help=said)
    usual = Path("spear-federation")
    real.add_argument("--out", type=Path, default=usual, help=f"for the report (default {usual})")
    real.set_defaults(command=federate)
    for parser in (export, demo, real):
        add_settings(parser)


def export_client(args: argparse.Namespace) -> None:
    """Write one client's file, or everybody's."""
    settings = settings_of(args)
    held = run(settings).held
    if args.client == "all":
        numbers = list(range(held.clients))
        paths = [args.out / f"client-{k}.npz" for k in numbers]
    elif args.client in map(str, range(held.clients)):
        numbers, paths = [int(args.client)], [args.out]
    else:
        raise SpearError(f"--client must be 0 to {held.clients - 1}, or all; got {args.client}.")
    for k, path in zip(numbers, paths, strict=True):
        graph = client_graph(held, k)
        write_client(path, graph)
        trained = int(graph.train.sum())
        print(f"{path}: {graph.num_nodes} nodes, {graph.num_edges} edges, {trained} for training")


def federation_demo(args: argparse.Namespace) -> None:
    """The demo; whoever ends it, what it started is stopped first."""
    settings = settings_of(args)
    _need_flower()
    from spear_core.federation.demo import main

    for sign in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.default_int_handler)
    main(honest(settings), say=lambda line: print(line, flush=True), keep=args.keep)


def federate(args: argparse.Namespace) -> None:
    """One run between real machines; fails with a sentence where `flwr run` would exit with 0."""
    settings = settings_of(args)
    if not all(hasattr(args, name) for name in SHAPE):
        raise SpearError(
            "Say how many classes and features the clients have, as in --classes 7 --features 1433."
        )
    _need_flower()
    from spear_core.federation.flower import check_ended, environment, run_app, run_config
    from spear_core.federation.report import REPORT, read_folder

    out = args.out.expanduser().absolute()
    more = {
        "quorum": args.min_nodes if args.quorum is None else args.quorum,
        "join-deadline": args.join_deadline,
        "answer-deadline": args.answer_deadline,
        "evaluate": args.evaluate,
    }
    print(f"waiting for {args.min_nodes} nodes, asking each once; this takes a while", flush=True)
    try:
        ended = run_app(
            environment(), args.link, run_config(offered(settings), out, args.min_nodes, **more)
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Stopped waiting; the run goes on until flwr stop RUN {args.link} ends it."
        ) from None
    if (out / REPORT).is_file():
        print("\n".join([*read_folder(out)[0].lines(), f"report in {out}"]), flush=True)
    check_ended(ended, out)


def _wait(what: str) -> str:
    return f"seconds to wait for {what} (default 60)"


def _need_flower() -> None:
    try:
        import flwr  # noqa: F401
    except ImportError:
        raise SpearError(
            "Flower is not installed; say pip install -r requirements-federation.txt "
            "in the project's folder."
        ) from None
