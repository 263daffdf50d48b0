"""The views of the page Beyond: each draws itself and gives its tables and its lines of Python."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from pages.parts import beyond_lines as lines_of
from pages.parts import sketch_views
from pages.shared import lab, link, runs, show
from pages.shared.affordable import fits
from spear_core import Result, Settings
from spear_core.baselines import stored
from spear_core.baselines.views import summaries
from spear_core.explain.gate import gate_words
from spear_core.figures import beyond as figures
from spear_core.lance import LANCE, SPEAR
from spear_core.lance.affinity import affinity
from spear_core.measures.spread import mean_and_spread, points, with_spread
from spear_core.paper import rivals
from spear_core.settings import written
from spear_core.studies import beyond_tables as tables
from spear_core.studies.lance_table import DATASETS

Shown = tuple[dict[str, pd.DataFrame], list[str]]
STEPS = {  # the way, one part after the other
    "SPEAR": SPEAR,
    "+ gate": SPEAR | {"smoothing": "gated"},
    "+ ridge (rank 0)": SPEAR | {"smoothing": "gated", "head": "ridge"},
    "+ sketch: LANCE": LANCE,
}
FOUR = {  # two switches, four cells
    ("α, T fixed", "cosine"): SPEAR,
    ("α, T fixed", "ridge, rank 8"): LANCE | {"smoothing": "fixed"},
    ("gated", "cosine"): SPEAR | {"smoothing": "gated"},
    ("gated", "ridge, rank 8"): LANCE,
}
RANKS = (0.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MADE = "`python -m spear_core.studies.lance_table` and `python -m spear_core.studies.beyond`"
LABELS = "A Dirichlet split reads the labels of *all* nodes, also of the test nodes: a client's own"
LABELS += " edges then join mostly one class, and smoothing inside it profits. Louvain and IID read"
LABELS += " no label, so they are the fairer half."


def reached(result: Result, change: dict) -> list[float]:
    """Accuracies in percent with another estimator, over the seeds."""
    settings = replace(result.settings, **change)
    found = runs.over_seeds(settings, runs.seeds_for(result))
    return [100 * value for value in found if value is not None]


def one_graph(result: Result) -> Shown:
    """From SPEAR to LANCE in steps, on the present graph, live."""
    found = {name: values for name, c in STEPS.items() if (values := reached(result, c))}
    if not found:
        st.info("There is no test node, so accuracy cannot be measured.")
        return {}, []
    mean = {name: sum(values) / len(values) for name, values in found.items()}
    first, last = mean["SPEAR"], mean["+ sketch: LANCE"]
    said = f"SPEAR reaches {first:.1f} %, LANCE {last:.1f} %: {points(last - first)}."
    st.markdown(
        f"**{result.graph.name}, {len(found['SPEAR'])} seeds.** {said} {gate_words(result)}"
    )
    code = lines_of.steps(runs.seeds_for(result), STEPS)
    show.chart(figures.steps(found), "beyond_steps", said, code=code)
    st.subheader("Which part carries it?")
    cells = {key: reached(result, change) for key, change in FOUR.items()}
    table = pd.DataFrame(
        {
            head: {
                rule: with_spread(*mean_and_spread(cells[rule, head]))
                for rule, h in FOUR
                if h == head
            }
            for head in ("cosine", "ridge, rank 8")
        }
    )
    st.table(table)
    st.caption("Accuracy in %, mean ± spread over the same seeds: the gate down, the head across.")
    wide = {name: pd.Series(values) for name, values in found.items()}
    lines = ["from spear_core.lance import lance", "print(run(lance(s)).metrics.accuracy)"]
    return {"steps": pd.DataFrame(wide), "two by two": table.reset_index()}, lines


def all_eight(_result: Result) -> Shown:
    """The stored runs of eight datasets beside FedAvg, the paper and the central bound."""
    part = show.switch("Split", tuple(tables.PARTS), "beyond_part")
    found, usual = tables.cells(), part == tables.USUAL
    series = {
        label: {name: (found[name, part, v].mean, found[name, part, v].std) for name in DATASETS}
        for label, v in (
            ("SPEAR", "SPEAR"),
            ("gate alone", "gated cosine"),
            ("LANCE", tables.LANCE),
        )
    }
    if usual:
        fedavg = [s for s in summaries(stored()) if (s.method, s.recipe) == ("fedavg", "default")]
        series["FedAvg, 100 rounds"] = {
            s.dataset: (100 * s.accuracy, 100 * s.spread)
            for s in fedavg
            if s.clients == 10 and s.beta == 0.05 and s.dataset in DATASETS
        }
        printed = {name: rivals.accuracies(name, 10, 0.05).get("SPEAR") for name in DATASETS}
        series["SPEAR as printed"] = {k: (v, 0.0) for k, v in printed.items() if v is not None}
    series["all in one place"] = tables.central()
    ahead = tables.gains(part)
    better = [name for name, (mean, std) in ahead.items() if mean > std]
    st.markdown(
        f"{part}: LANCE is ahead of SPEAR by more than the spread on **{len(better)} of "
        f"{len(ahead)}** datasets. 'All in one place' is the same regression with every training "
        "row at the server, five seeds; being above it at β = 0.05 is the split's doing."
    )
    code = lines_of.eight(part, usual)
    figure, told = figures.spreads(series, "accuracy"), f"{len(better)} ahead."
    show.chart(figure, "beyond_eight", told, code=code)
    st.caption(f"{LABELS} FedAvg is stored for three datasets. Stored by {MADE}.")
    rows = [
        {"dataset": name, "what": label, "mean": m, "spread": s}
        for label, each in series.items()
        for name, (m, s) in each.items()
    ]
    lines = ["from spear_core.studies.beyond_tables import gains", f"print(gains({part!r}))"]
    return {"eight datasets": pd.DataFrame(rows)}, lines


@st.cache_data(max_entries=256, show_spinner=False)
def priced(settings: Settings) -> tuple[float, float]:
    """KiB a client and accuracy in percent of one run."""
    metrics = runs.result_of(settings).metrics
    return metrics.bytes_up_per_client / 1024, 100 * (metrics.accuracy or 0.0)


def price(result: Result) -> Shown:
    """Bytes against accuracy over ranks: stored for eight, live for the present graph."""
    found, kinds = tables.cells(), ("SPEAR", "rank 0", "rank 8", "rank 32")
    lines = {
        name: [(k, c.kib, c.mean) for k in kinds for c in (found[name, tables.USUAL, k],)]
        for name in DATASETS
    }
    here = f"{result.graph.name} now, seed {result.settings.seed}"
    if not runs.heavy(result):
        each = ((rank, replace(result.settings, **LANCE | {"sketch": rank})) for rank in RANKS)
        lines[here] = [
            (f"rank {written('sketch', r)}, capped", *priced(s)) for r, s in each if fits(s)
        ]
    st.markdown(
        "Every line goes from SPEAR's message to the sketch of rank 32; rank 0 is SPEAR's message "
        "and eight bytes. Look where a line turns level: more rows tell the server nothing new."
    )
    ranks = [r for r in RANKS if fits(replace(result.settings, **LANCE | {"sketch": r}))]
    code = lines_of.price(() if runs.heavy(result) else ranks)
    figure, told = figures.bytes_against_accuracy(lines), "Accuracy over KiB a client."
    show.chart(figure, "beyond_bytes", told, code=code)
    st.caption(f"Dirichlet, β = 0.05, means of seeds and splits. Stored by {MADE}.")
    rows = [{"line": k, "what": p[0], "KiB": p[1], "%": p[2]} for k, v in lines.items() for p in v]
    return {"bytes": pd.DataFrame(rows)}, ["print(r.metrics.bytes_up_per_client)"]


def gate(result: Result) -> Shown:
    """The affinities of all datasets on one axis, with the gate."""
    own, known = float(affinity(result.graph).value), tables.affinities()
    s = result.settings
    st.markdown(
        "How hard to smooth is read from features and edges alone: a = (mean of x·x over edges − "
        f"that over all pairs) / (1 − the latter). **{result.graph.name}: {own:.3f}**, gate "
        f"{s.gate:g}. Its place between the two groups was chosen on these eight graphs."
    )
    chart = figures.affinities(known, s.gate, (result.graph.name, own))
    told = f"Affinities of {len(known)} datasets, gate {s.gate:g}."
    show.chart(chart, "beyond_gate", told, code=lines_of.GATE)
    table = pd.DataFrame({"dataset": list(known), "affinity": list(known.values())})
    lines = ["from spear_core.lance.affinity import affinity", "print(affinity(r.graph).value)"]
    return {"affinities": table}, lines


def loses(result: Result) -> Shown:
    """Attackers, what a sketch reveals, β = 10, ties: as large as the gains."""
    lied, clean = tables.under_liars(), tables.under_liars("nobody lies")
    less = {
        name: [lied[k][0] - lied[k[0], k[1], "SPEAR"][0] for k in lied if k[2] == name]
        for name in ("LANCE", "LANCE, agreement")
    }
    bare, defended = (sum(v < 0 for v in values) for values in less.values())
    cost = max(clean[d, b, "LANCE"][0] - clean[d, b, v][0] for d, b, v in clean if "agree" in v)
    st.subheader("Under liars")
    st.markdown(
        f"Three of ten clients call every class by the next one's name. LANCE ends below SPEAR in "
        f"**{bare} of {len(less['LANCE'])}** cells, by up to {-min(less['LANCE']):.1f} points. "
        f"With the defence *agreement* it does in **{defended}**, by up to "
        f"{max(0.0, -min(less['LANCE, agreement'])):.1f}; where nobody lies that defence costs "
        f"{cost:.1f} points at most. Clients that the others' regression contradicts are left out; "
        "where classes are shared by too few to tell, it falls back to the gated cosine."
    )
    names = ("SPEAR", "gated cosine", "LANCE", "LANCE, agreement")
    series = {
        name: {f"{d}, β = {float(b):g}": lied[d, b, v] for d, b, v in lied if v == name}
        for name in names
    }
    said = f"LANCE worse than SPEAR in {bare} cells, defended in {defended}."
    code = lines_of.LIARS.replace("NAMES", repr(names))
    show.chart(figures.spreads(series, "accuracy"), "beyond_liars", said, code=code)
    st.subheader("What a sketch reveals")
    st.markdown(revealed(result))
    told = sketch_views.stored_chart("beyond_revealed")
    st.subheader("Without skew, and on small graphs")
    ten = tables.gains("Dirichlet, β = 10")
    tied = [f"{k} ({m:+.1f} ± {s:.1f})" for k, (m, s) in ten.items() if abs(m) <= s]
    below = [f"{k} ({m:+.1f})" for k, (m, _) in ten.items() if m < 0]
    st.markdown(
        f"At β = 10 clients are alike and the split helps nobody. Within the spread: "
        f"**{', '.join(tied) or 'none'}**; below SPEAR: **{', '.join(below) or 'none'}**. Texas is "
        "a tiny WebKB graph, where one test node is worth points: read it as a tie."
    )
    gained = {part: tables.gains(part) for part in tables.PARTS}
    show.chart(
        figures.spreads(gained, "LANCE less SPEAR, points", zero=True, suffix=""),
        "beyond_gains",
        "Gains over SPEAR by dataset and split.",
        code=lines_of.GAINS,
    )
    st.caption(f"{LABELS} Stored by {MADE}.")
    rows = [{"dataset": d, "β": b, "what": v, "%": lied[d, b, v][0]} for d, b, v in lied]
    lines = ["from spear_core.studies.beyond_tables import under_liars", "print(under_liars())"]
    return {"liars": pd.DataFrame(rows), "what sketches reveal": told}, lines


def revealed(result: Result) -> str:
    """How many clients would send their residuals whole at LANCE's rank, without the cap."""
    counts = result.held.train_counts
    whole = counts.sum(1) - (counts > 0).sum(1)
    sending = int((counts.sum(1) > 0).sum())
    exact = int(((whole > 0) & (whole <= LANCE["sketch"])).sum())
    return (
        "Means hide nodes among others; residuals of rank n − cells *are* the nodes, up to a "
        f"rotation. On {result.graph.name} now **{exact} of {sending}** clients would send all of "
        f"theirs at rank {LANCE['sketch']}; the cap, on by default, stops each at half of that. "
        "With a finite ε no client sends a sketch."
    )


def clean(settings: Settings) -> Settings:
    """The settings as this page takes them: clean data, the paper's estimator to begin with."""
    return replace(lab.cleaned(settings), smoothing="gated", head="ridge", sketch=8.0)


VIEWS: dict[str, Callable[[Result], Shown]] = dict(
    zip(link.choices("beyond"), (one_graph, all_eight, price, gate, loses), strict=True)
)
