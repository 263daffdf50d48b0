"""The command line: `python -m spear_core COMMAND …`."""

import argparse
import io
import json
import os
import sys
from dataclasses import fields, replace
from typing import Any, NoReturn

from spear_core import PAPER_SEEDS, Settings, SpearError, defaults, load, run
from spear_core.cli import baseline as baseline_command
from spear_core.cli import federation as federation_command
from spear_core.cli import paper as paper_command
from spear_core.cli import sweep
from spear_core.datasets import CATALOGUE, store
from spear_core.datasets.catalogue import resolve
from spear_core.measures import JSON_METRICS
from spear_core.run import Result


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. See {self.prog} --help.\n")


def main(argv: list[str] | None = None) -> int:
    """Run a command; 0 when it worked, 2 with one sentence when it cannot."""
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks Greek letters gets a "?"
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    args = _parser().parse_args(argv)
    try:
        args.command(args)
        sys.stdout.flush()
    except SpearError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader went away, as `| head` does
        sys.stderr.close()
        return 0
    except MemoryError:
        print(
            "There is not enough memory for these settings; use a smaller graph.", file=sys.stderr
        )
        return 2
    except OSError as error:
        print(f"The output cannot be written ({error.strerror}).", file=sys.stderr)
        os._exit(2)  # Python would try to write it once more
    except KeyboardInterrupt as stop:
        print(str(stop) or "Stopped.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m spear_core", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    one = commands.add_parser("run", help="run SPEAR and print its measures")
    one.set_defaults(command=_run)
    _add_settings(one)
    one.add_argument(
        "--seeds",
        type=_seed_list,
        metavar="A,B,…",
        help="several seeds, for a mean and its spread; paper means "
        + ",".join(str(s) for s in PAPER_SEEDS),
    )
    one.add_argument("--json", action="store_true", help="print one JSON object with all measures")

    data = commands.add_parser("data", help="show which datasets are there, or get one")
    data.set_defaults(command=_data)
    data.add_argument("name", nargs="?", help="a dataset to get and check")

    paper = paper_command.add(commands)
    paper.set_defaults(command=lambda args: paper_command.main(args, _progress))

    sweep.add(commands).set_defaults(command=sweep.main)

    baseline_command.add(commands, _add_option, _seed_list)

    for part in federation_command.add(commands):
        _add_settings(part)
        part.set_defaults(command=lambda args: args.federate(_settings(args), args))
    return parser


def _add_settings(parser: argparse.ArgumentParser) -> None:
    for f in fields(Settings):
        _add_option(parser, f)


def _settings(args: argparse.Namespace) -> Settings:
    """The settings that were given, the rest as usual for the dataset."""
    given = {f.name: getattr(args, f.name) for f in fields(Settings) if hasattr(args, f.name)}
    start = defaults(given.pop("dataset", Settings().dataset))
    return replace(start, **given)


def _add_option(parser: argparse.ArgumentParser, f: Any) -> None:
    """An option for a field of Settings; only options that were given reach the namespace."""
    symbol = f"{f.metadata['symbol']}: " if f.metadata["symbol"] else ""
    text = f"{symbol}{f.metadata['help']} (default {f.default})".replace("%", "%%")
    flag = "--" + f.name.replace("_", "-")
    if isinstance(f.default, bool):
        parser.add_argument(
            flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text
        )
        return
    parser.add_argument(flag, default=argparse.SUPPRESS, help=text, metavar=f.name.upper())


def _seed_list(text: str) -> list[int]:
    if text == "paper":
        return list(PAPER_SEEDS)
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"needs whole numbers with commas between, got {text!r}"
        ) from None


def _run(args: argparse.Namespace) -> None:
    if args.seeds and hasattr(args, "seed"):
        raise SpearError("Give either --seed or --seeds, not both.")
    settings = _settings(args)
    seeds = args.seeds or [settings.seed]
    points = [replace(settings, seed=seed) for seed in seeds]
    load(settings, progress=_progress)
    results = [run(point) for point in points]
    if args.json:
        print(json.dumps(report(results), indent=2, allow_nan=False, ensure_ascii=False))
    else:
        _print(results)


def report(results: list[Result]) -> dict[str, Any]:
    """Settings, seeds and the mean, spread and values of every measure, ready for JSON."""
    out: dict[str, Any] = {
        "settings": results[0].settings.to_dict(),
        "seeds": [r.settings.seed for r in results],
    }
    for name in JSON_METRICS:
        out[name] = _summary([getattr(r.metrics, name) for r in results])
    out["seconds"] = _summary([r.method_seconds for r in results])
    for stage in results[0].seconds:
        out[f"seconds_{stage}"] = _summary([r.seconds[stage] for r in results])
    out["class_accuracy"] = [r.metrics.class_accuracy for r in results]
    out["client_homophily"] = [r.metrics.client_homophily for r in results]
    out["confusion"] = [r.metrics.confusion.tolist() for r in results]
    out["notes"] = {str(r.settings.seed): list(r.notes) for r in results}
    return out


def _summary(values: list[float | None]) -> dict[str, Any]:
    """Mean, population standard deviation and values; null where a value is missing."""
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return {"mean": None, "std": None, "values": values}
    mean = sum(known) / len(known)
    std = (sum((v - mean) ** 2 for v in known) / len(known)) ** 0.5
    return {"mean": mean, "std": std, "values": values}


def _print(results: list[Result]) -> None:
    first = results[0]
    s, graph, table = first.settings, first.graph, report(results)
    print(
        f"{s.dataset}: {graph.num_nodes} nodes, {graph.num_edges} edges, "
        f"{graph.num_features} features, {graph.classes} classes"
    )
    skew = f" β={s.beta:g}" if s.partition == "dirichlet" else ""
    print(f"{s.partition}{skew} K={s.clients} α={s.alpha:g} T={s.steps} γ={s.gamma:g}")
    print(f"seeds {', '.join(str(r.settings.seed) for r in results)}\n")
    _line("accuracy", table["accuracy"], 100, " %")
    _line("macro F1", table["macro_f1"], 100, " %")
    _line("silhouette raw", table["silhouette_raw"], 1, "", 4)
    _line("silhouette smoothed", table["silhouette_smoothed"], 1, "", 4)
    _line("error of local prototypes", table["error_local"], 1, "", 4)
    _line("error of their plain mean", table["error_mean"], 1, "", 4)
    _line("error of SPEAR", table["error_spear"], 1, "", 4)
    _line("sent up, all clients", table["bytes_up_total"], 1 / 1024, " KiB")
    _line("sent up, per client", table["bytes_up_per_client"], 1 / 1024, " KiB")
    _line("of it prototypes alone", table["bytes_up_prototypes"], 1 / 1024, " KiB")
    _line("sent down, all clients", table["bytes_down_total"], 1 / 1024, " KiB")
    _line("sent down, per client", table["bytes_down_per_client"], 1 / 1024, " KiB")
    _line("time of the method", table["seconds"], 1000, " ms")
    for seed, notes in table["notes"].items():
        for note in notes:
            print(f"· {note}" if len(results) == 1 else f"· seed {seed}: {note}")


def _line(name: str, value: dict[str, Any], scale: float, unit: str, digits: int = 2) -> None:
    if value["mean"] is None:
        print(f"{name:26} not measurable")
        return
    spread = f" ± {value['std'] * scale:.{digits}f}" if len(value["values"]) > 1 else ""
    print(f"{name:26} {value['mean'] * scale:.{digits}f}{spread}{unit}")


def _data(args: argparse.Namespace) -> None:
    if args.name:
        entry = CATALOGUE[resolve(args.name)]
        graph = load(defaults(entry.name), progress=_progress)
        where = "built in" if entry.builtin else str(store.locate(entry) / entry.folder)
        print(
            f"{entry.name} is ready ({where}): {graph.num_nodes} nodes, {graph.num_edges} edges, "
            f"{graph.num_features} features, {graph.classes} classes."
        )
        return
    print("Raw files are looked for in")
    print(f"  $SPEAR_DATA   {store.data_folder() or 'not set'} (never written to)")
    print(f"  the cache     {store.raw_cache()} (set SPEAR_CACHE for another)\n")
    for entry in CATALOGUE.values():
        root = None if entry.builtin else store.found(entry)
        state = (
            "built in"
            if entry.builtin
            else f"in {root}"
            if root
            else f"to download, about {entry.megabytes:g} MB"
        )
        print(f"{entry.name:17} {entry.about:57} {state}")
    print("\nGet one with: python -m spear_core data NAME")


def _progress(sentence: str, fraction: float) -> None:
    if sys.stderr.isatty():
        end = "\n" if fraction >= 1 else ""
        print(f"\r{sentence} ({100 * fraction:.0f} %)\033[K", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
