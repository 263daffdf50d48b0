"""The pictures of the page Beyond in Python, for a download of its view."""

from collections.abc import Mapping, Sequence
from typing import Any

TABLES = """from spear_core.figures import beyond as draw
from spear_core.studies import beyond_tables as tables
"""
STEPWISE = """from dataclasses import replace
from spear_core.figures import beyond as draw
"""
EIGHT = f"""{TABLES}from spear_core.studies.lance_table import DATASETS
found, part = tables.cells(), PART
series = {{
    label: {{name: (found[name, part, v].mean, found[name, part, v].std) for name in DATASETS}}
    for label, v in (("SPEAR", "SPEAR"), ("gate alone", "gated cosine"), ("LANCE", tables.LANCE))
}}
"""
USUAL = """from spear_core.baselines import stored
from spear_core.baselines.views import summaries
from spear_core.paper.rivals import accuracies
series["FedAvg, 100 rounds"] = {
    one.dataset: (100 * one.accuracy, 100 * one.spread)
    for one in summaries(stored())
    if (one.method, one.recipe, one.clients, one.beta) == ("fedavg", "default", 10, 0.05)
    and one.dataset in DATASETS
}
printed = {name: accuracies(name, 10, 0.05).get("SPEAR") for name in DATASETS}
series["SPEAR as printed"] = {k: (v, 0.0) for k, v in printed.items() if v is not None}
"""
PRICE = f"""{TABLES}from spear_core.studies.lance_table import DATASETS
found, kinds = tables.cells(), ("SPEAR", "rank 0", "rank 8", "rank 32")
lines = {{
    name: [(k, c.kib, c.mean) for k in kinds for c in (found[name, tables.USUAL, k],)]
    for name in DATASETS
}}
"""
HERE = """from dataclasses import replace
from spear_core.lance import lance
from spear_core.settings import written
each = [(rank, run(replace(lance(s), sketch=rank)).metrics) for rank in RANKS]
lines[f"{r.graph.name} now, seed {s.seed}"] = [
    (f"rank {written('sketch', rank)}, capped", m.bytes_up_per_client / 1024, 100 * m.accuracy)
    for rank, m in each
]
"""
LIARS = f"""{TABLES}lied, names = tables.under_liars(), NAMES
series = {{
    name: {{f"{{d}}, β = {{float(b):g}}": lied[d, b, v] for d, b, v in lied if v == name}}
    for name in names
}}
draw.spreads(series, "accuracy")"""
GAINS = """gained = {part: tables.gains(part) for part in tables.PARTS}
draw.spreads(gained, "LANCE less SPEAR, points", zero=True, suffix="")"""
GATE = f"""{TABLES}from spear_core.lance.affinity import affinity
here = (r.graph.name, float(affinity(r.graph).value))
draw.affinities(tables.affinities(), s.gate, here)"""


def steps(seeds: Sequence[int], ways: Mapping[str, Mapping[str, Any]]) -> str:
    """From SPEAR to LANCE in steps."""
    return f"""{STEPWISE}seeds, ways = {seeds}, {ways}
found = {{
    name: [100 * run(replace(s, **way, seed=seed)).metrics.accuracy for seed in seeds]
    for name, way in ways.items()
}}
draw.steps(found)"""


def eight(part: str, usual: bool) -> str:
    """The stored runs of eight datasets; with FedAvg and the print for the usual split."""
    code = EIGHT.replace("PART", repr(part)) + USUAL * usual
    return code + 'series["all in one place"] = tables.central()\ndraw.spreads(series, "accuracy")'


def price(ranks: Sequence[float]) -> str:
    """Bytes against accuracy, stored and, for these ranks, live."""
    live = HERE.replace("RANKS", repr(ranks)) if ranks else ""
    return f"{PRICE}{live}draw.bytes_against_accuracy(lines)"
