"""The parts of the Noise page; a view gives its tables and its lines of Python."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.parts.noise_lines import RULES, lines_over_rate
from pages.shared import link, runs, show
from spear_core import Graph, Result, Settings, load
from spear_core.explain.noise_curve import words
from spear_core.figures import noise as figures
from spear_core.measures.spread import percent, points, signed_spread, with_spread
from spear_core.paper import perturbation
from spear_core.settings import equation
from spear_core.studies.noise_curve import KNOBS, VALUES, Curve, curve

FEW = 5_000  # nodes up to which every point is drawn twice
Shown = tuple[dict[str, pd.DataFrame], list[str]]
WHERE: dict[str, dict[str, Any]] = {  # which graphs are noisy, and when
    "clients' graphs, after the split": {"noise_test": False, "noise_when": "after"},
    "clients' graphs, before the split": {"noise_test": False, "noise_when": "before"},
    "test graph too, after the split": {"noise_test": True, "noise_when": "after"},
    "test graph too, before the split": {"noise_test": True, "noise_when": "before"},
}
FOLLOWED = {  # a control of the page -> the view that shows what it does
    **dict(zip(KNOBS, link.choices("noise_view"), strict=False)),
    "noise_when": link.choices("noise_view")[0],
    "feature_rule": link.choices("noise_view")[1],
}


def follow(name: str) -> None:
    """Show the view of the control that was moved; those that look at all kinds stay."""
    if st.session_state["noise_view"] in tuple(FOLLOWED.values()):
        st.session_state["noise_view"] = FOLLOWED[name]


def costs(settings: Settings, seeds: bool) -> pd.DataFrame:
    """Accuracy with and without noise, with and without smoothing, and the differences."""
    nothing: dict[str, Any] = dict.fromkeys(KNOBS, 0)
    unspoiled = replace(settings, **nothing)
    clean, now = _each(unspoiled, seeds), _each(settings, seeds)
    clean_raw, now_raw = (_each(replace(s, alpha=0.0), seeds) for s in (unspoiled, settings))
    columns = {equation("alpha", settings.alpha): (clean, now), "α = 0": (clean_raw, now_raw)}
    table = {"": ["without noise", "with this noise", "what noise costs"]}
    for name, (before, after) in columns.items():
        table[name] = [_percent(before), _percent(after), _points(after - before)]
    gains = [clean - clean_raw, now - now_raw]
    table["what smoothing gives"] = [_points(g) for g in (*gains, gains[1] - gains[0])]
    return pd.DataFrame(table)


def homophily_words(result: Result) -> str:
    """How alike neighbours are without the noise and with it: why edges may be harmless."""
    clean, held = load(result.settings), result.held

    def share(graph: Graph, inside: bool) -> str:
        source, target = graph.edge_index
        same = result.graph.y[source] == result.graph.y[target]
        if inside:
            same = same[held.owner[source] == held.owner[target]]
        return percent(float(same.double().mean()), 0) if len(same) else "none"

    said = (
        f"Of the edges inside clients {share(clean, True)} join two nodes of one class without "
        f"this noise, {share(held.graph, True)} with it: a client with few classes can "
        "hardly get a wrong edge."
    )
    if result.settings.noise_test:
        said += (
            f" In the graph that is tested on it is {share(clean, False)} without and "
            f"{share(result.graph, False)} with."
        )
    return said


@st.cache_data(max_entries=48, show_spinner="Five seeds at every point …")
def sweep(settings: Settings, knob: str, values: tuple[float, ...], draws: int) -> Curve | None:
    return curve(settings, knob, values, draws=draws)


def over(knob: str, result: Result, pinned: Result | None) -> Shown:
    """Accuracy over one knob beside α = 0, and what smoothing gives."""
    settings, nodes = result.settings, result.graph.num_nodes
    if result.metrics.accuracy is None:
        return {}, []
    values, draws = _values(knob, result), 2 if nodes <= FEW else 1
    found, then = None, None
    rest: dict[str, Any] = {knob: 0, "seed": 42}  # the curve is the same wherever we are
    plain = replace(settings, **rest)
    lines = [
        "from spear_core.explain.noise_curve import words",
        "from spear_core.studies.noise_curve import curve",
        f'print(words(curve(s, "{knob}")))',
    ]
    if runs.quick(result):
        found = sweep(plain, knob, values, draws)
        if pinned:
            then = sweep(replace(pinned.settings, **rest), knob, values, draws)
    elif st.toggle(f"Make the {10 * len(values)} runs", key="noise_runs"):
        bar = st.progress(0.0, "Five seeds at every point")
        found = curve(
            plain, knob, values, accuracy=runs.accuracy_of, progress=lambda part: bar.progress(part)
        )
        bar.empty()
    if found is None:
        return {}, lines
    said = words(found)
    show.sentence(said, "noise", 3)
    here = (getattr(settings, knob), 100 * result.metrics.accuracy)
    given = f'"{knob}", {values}' + (f", draws={draws}" if runs.quick(result) else "")
    left, right = st.columns([3, 2])
    with left:
        st.caption(
            f"Lines are means over five seeds{' with two draws each' * (draws > 1)}, bands one "
            "standard deviation. Look at the distance of the two lines."
        )
        shown = here if knob != "labels_per_class" or here[0] in values else None
        code = lines_over_rate(given, shown, then is not None)
        show.chart(figures.over_rate(found, shown, then), "noise-curve", said, code=code)
    with right:
        st.caption("The same distance, run by run: above 0 smoothing helps.")
        figure = figures.smoothing_gain(found)
        show.chart(figure, "noise-gain", said, code="draw.smoothing_gain(found)")
    files = {f"over {knob}": found.table(), f"over {knob}, single runs": found.runs()}
    return {name: pd.DataFrame(table) for name, table in files.items()}, lines


def _values(knob: str, result: Result) -> tuple[float, ...]:
    """Where the curve is drawn; label numbers only up to what a class has."""
    if knob != "labels_per_class":
        return VALUES[knob]
    graph = runs.result_of(replace(result.settings, labels_per_class=0)).graph
    most = int(graph.y[graph.train_nodes].bincount().max())
    return tuple(n for n in VALUES[knob] if n < most)


def where(result: Result, pinned: Result | None) -> Shown:
    """Accuracy with this noise in the clients' graphs alone or in the test graph too."""
    settings = result.settings
    if not (settings.edge_noise or settings.feature_noise):
        st.info("Choose ρ or η above 0 first: labels of the test graph are never changed.")
        return {}, []
    many = runs.quick(result)
    if not many and not st.toggle("Make the eight runs", key="noise_where"):
        return {}, []
    each = {
        (name, alpha): _each(replace(settings, **changes, alpha=alpha), many)
        for name, changes in WHERE.items()
        for alpha in (settings.alpha, 0.0)
    }
    table = pd.DataFrame({"noise in": list(WHERE)})
    for alpha in (settings.alpha, 0.0):
        table[equation("alpha", alpha)] = [_percent(each[name, alpha]) for name in WHERE]
    clients, _, both, _ = (each[name, settings.alpha] for name in WHERE)
    st.markdown(
        "Compare the upper half with the lower: a test graph that is noisy too changes accuracy by "
        f"{_points(both - clients)} points (edges changed after the split). Prototypes average "
        "many nodes; a test node stands alone with its neighbours."
    )
    st.table(table.set_index("noise in"))
    if not settings.edge_noise:
        st.caption("Before and after are alike here: they differ for edges only.")
    lines = ["for where in (False, True):"]
    lines += ["    print(run(replace(s, noise_test=where)).metrics.accuracy)"]
    return {"where": table}, lines


def paper(result: Result, pinned: Result | None) -> Shown:
    """The paper's table beside ours, and every rule that was tried."""
    rows = perturbation.read()
    table = pd.DataFrame(
        {
            "kind": row.kind,
            "rule": row.rule,
            "dataset": row.dataset,
            "ours": with_spread(row.mean, row.standard_error, 2),
            "printed": f"{row.printed:.2f}",
            "difference": f"{row.gap:+.2f}".replace("-", "−"),
            "single run ±": f"{row.std:.2f}",
            "within 2 SE": "yes" if row.fits else "no",
            "SE over seeds": f"{row.seed_error:.2f}",
            "within 2 of those": "yes" if row.fits_seeds else "no",
            "runs": row.draws * len(row.seeds.split()),
        }
        for row in rows
    )
    st.caption(
        "The paper prints SPEAR at ρ = 0.5 and at η = 0.5 without saying more. "
        f"Ours: mean ± standard error (SE) over {table['runs'][0]} runs, {rows[0].draws} draws of "
        f"noise with each of five seeds, measured {rows[0].date} with {rows[0].versions}. Runs of "
        "one seed share a split, so the standard error over seeds is given too."
    )
    st.table(_beside(rows).set_index(""))
    for column, (kind, title) in zip(
        st.columns(2), (("edge", "Edges, ρ = 0.5"), ("feature", "Features, η = 0.5")), strict=True
    ):
        with column:
            st.markdown(f"**{title}.** {perturbation.words(rows, kind)}")
            said, code = perturbation.words(rows, kind), f'{RULES}draw.rules(read(), "{kind}")'
            show.chart(figures.rules(rows, kind), f"noise-rules-{kind}", said, code=code)
    with st.expander(f"All {len({(row.kind, row.rule) for row in rows})} rules"):
        st.dataframe(table, hide_index=True)
    raw = pd.DataFrame(rows)
    lines = ["from spear_core.paper.perturbation import read, words"]
    return {"paper rules": raw}, [*lines, 'print(words(read(), "feature"))']


def _beside(rows: list[perturbation.Row]) -> pd.DataFrame:
    """The print, the rule that the settings of this page have by default, and the nearest one."""
    lines: dict[str, dict[str, str]] = {}
    for kind, title in (("edge", "edges, ρ = 0.5"), ("feature", "features, η = 0.5")):
        plain = next(row.rule for row in rows if row.kind == kind)  # the first in the file
        nearest = perturbation.by_fit(rows, kind)[0][0]
        for row in rows:
            if row.kind == kind and row.rule in (plain, nearest):
                ours = with_spread(row.mean, row.standard_error, 2)
                lines.setdefault(f"{title}: printed", {})[row.dataset] = f"{row.printed:.2f}"
                name = f"{row.rule}{' (nearest)' * (row.rule == nearest)}"
                lines.setdefault(f"{title}: {name}", {})[row.dataset] = ours
    return pd.DataFrame(lines).T.rename_axis("").reset_index()


def _each(settings: Settings, seeds: bool) -> np.ndarray:
    """Accuracy in percent with the paper's seeds, or with the present one alone."""
    found = runs.over_seeds(settings) if seeds else [runs.accuracy_of(settings)]
    return 100 * np.array(found, dtype=float)


def _percent(each: np.ndarray) -> str:
    one = len(each) == 1
    return percent(each[0] / 100) if one else f"{with_spread(each.mean(), each.std())} %"


def _points(each: np.ndarray) -> str:
    return signed_spread(each) if len(each) > 1 else points(each[0])


VIEWS: dict[str, Callable[[Result, Result | None], Shown]] = dict(
    zip(
        link.choices("noise_view"),
        (*(partial(over, knob) for knob in KNOBS), where, paper),
        strict=True,
    )
)
