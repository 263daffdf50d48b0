"""`spear run`: run SPEAR and print its measures."""

import argparse
import json
from dataclasses import replace
from typing import Any

from spear_core.cli.options import add_seeds, add_settings, progress, settings_of
from spear_core.datasets import load
from spear_core.errors import SpearError
from spear_core.measures import JSON_METRICS
from spear_core.measures.spread import mean_and_spread
from spear_core.run import Result, run
from spear_core.settings import symbol, written

KNOBS = ("beta", "clients", "alpha", "steps", "gamma")  # printed above the measures


def add(commands: Any) -> None:
    """Add the command to argparse's subparsers."""
    parser = commands.add_parser("run", help="run SPEAR and print its measures")
    parser.set_defaults(command=main)
    add_settings(parser)
    add_seeds(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with all measures"
    )


def main(args: argparse.Namespace) -> None:
    if args.seeds and hasattr(args, "seed"):
        raise SpearError("Give either --seed or --seeds, not both.")
    settings = settings_of(args)
    seeds = args.seeds or [settings.seed]
    points = [replace(settings, seed=seed) for seed in seeds]
    load(settings, progress=progress)
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
    mean, std = mean_and_spread(known)
    return {"mean": mean, "std": std, "values": values}


def _print(results: list[Result]) -> None:
    first = results[0]
    s, graph, table = first.settings, first.graph, report(results)
    print(
        f"{s.dataset}: {graph.num_nodes} nodes, {graph.num_edges} edges, "
        f"{graph.num_features} features, {graph.classes} classes"
    )
    knobs = [name for name in KNOBS if name != "beta" or s.partition == "dirichlet"]
    values = (f"{symbol(name)}={written(name, getattr(s, name))}" for name in knobs)
    print(s.partition, *values)
    print(f"seeds {', '.join(str(r.settings.seed) for r in results)}\n")
    _line("accuracy", table["accuracy"], 100, " %", 1)
    _line("macro F1", table["macro_f1"], 100, " %", 1)
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
