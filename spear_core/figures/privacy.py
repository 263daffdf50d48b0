"""Figures of privacy: accuracy over ε, who is exposed, membership, pictures under noise."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from spear_core.figures.common import layout
from spear_core.figures.heat import Table, heat
from spear_core.figures.palette import BLUE, BLUE_BAND, GREY, ORANGE, PINNED
from spear_core.figures.tiles import Tile, tiles
from spear_core.figures.traces import Trace, band_trace, cell_frame, click_trace, dot_trace, hover
from spear_core.measures.spread import with_spread
from spear_core.run import Result
from spear_core.settings import equation, written
from spear_core.studies.exposure import Exposure
from spear_core.studies.privacy_cost import Cost

FRAMES = 300  # of single cells; more would cover the map


def accuracy_over_epsilon(
    cost: Cost, here: tuple[float, float] | None = None, pinned: Cost | None = None
) -> go.Figure:
    """Mean accuracy over ε with its spread, the run without noise, and the present point."""
    x = [math.log10(e) for e in cost.epsilons]
    ends = [x[0] - 0.15, x[-1] + 0.75]
    figure = go.Figure()
    low, high = cost.mean - cost.std, cost.mean + cost.std
    figure.add_trace(band_trace(x, low, high, BLUE_BAND, "± over seeds and draws"))
    for name, level, colour, dash in (
        ("without noise", cost.exact.mean(), GREY, "dash"),
        ("always the largest class", cost.constant, ORANGE, "dot"),
    ):
        line = {"mode": "lines", "line": {"color": colour, "dash": dash}, "name": name}
        figure.add_scatter(x=ends, y=[level] * 2, **line, **hover(f"{name}: {level:.1f} %"))
    if pinned is not None:
        figure.add_trace(_curve(pinned, "pinned", PINNED, "dash"))
    figure.add_trace(_curve(cost, "with noise, mean", BLUE, "solid"))
    if here is not None:
        place = x[-1] + 0.5 if math.isinf(here[0]) else math.log10(here[0])
        marker = {"size": 13, "color": ORANGE, "line": {"width": 1, "color": "white"}}
        name, said = "you are here, this seed", f"{equation('epsilon', here[0])}: {here[1]:.1f} %"
        figure.add_trace(dot_trace([place], [here[1]], name, marker, said))
        ends = [min(ends[0], place - 0.15), max(ends[1], place + 0.15)]
    ticks = [e for e in cost.epsilons[:-1] if math.log10(e).is_integer()]  # ∞ stands beside
    figure.update_xaxes(
        title="ε: smaller is more private, ∞ adds no noise",
        tickvals=[*(math.log10(e) for e in ticks), x[-1] + 0.5],
        ticktext=[written("epsilon", e) for e in (*ticks, math.inf)],
        range=ends,
        zeroline=False,
    )
    figure.update_yaxes(title="accuracy", ticksuffix=" %", rangemode="tozero", zeroline=False)
    return layout(figure, 380)


def exposed(result: Result, seen: Exposure, chosen: tuple[int, int] | None = None) -> go.Figure:
    """Cosine of every upload to the node nearest to it; a frame where one node stands behind it."""
    shape = (result.held.clients, result.graph.classes)
    values = np.full(shape, np.nan)
    words = np.full(shape, "no labelled node", dtype=object)
    values[seen.client, seen.label] = np.maximum(0, seen.cosine)  # NaN stays NaN
    for i, pair in enumerate(zip(seen.client, seen.label, strict=True)):
        words[pair] = f"n = {seen.counts[i]}, {verdict(seen, i)}"
    names = result.graph.names
    table = Table(values, words, range(shape[0]))
    trace, look, said = heat(names, table, None, "cosine", "Cividis", 1.0)
    data = np.stack([seen.client, seen.label], axis=1)
    cells = click_trace(seen.label, seen.client, said[seen.client, seen.label], data)
    alone = set(zip(seen.client[seen.alone].tolist(), seen.label[seen.alone].tolist(), strict=True))
    framed = sorted(alone - {chosen}) if len(alone) <= FRAMES else []
    look["shapes"] = [cell_frame(c, k, ORANGE, dash="dot") for k, c in framed]
    if chosen:
        colour = ORANGE if chosen in alone else PINNED
        look["shapes"].append(cell_frame(chosen[1], chosen[0], colour, dash="solid"))
    return go.Figure([trace, cells], look)


def membership(
    result: Result, before: Exposure, after: Sequence[Exposure] | None = None
) -> go.Figure:
    """AUC of the membership attack over n, one dot an upload: without noise, and with it."""
    names, figure = result.graph.names, go.Figure()
    kinds = [("without noise", before.auc, "circle-open", BLUE)]
    if after:
        kinds.append(("with noise", np.mean([one.auc for one in after], 0), "diamond", ORANGE))
    for name, auc, symbol, colour in kinds:
        known = ~np.isnan(auc)
        text = [
            f"client {k}, class {names[c]}, n = {n}<br>{name}: AUC {a:.2f}"
            for k, c, n, a in zip(
                *(part[known].tolist() for part in (before.client, before.label, before.counts)),
                auc[known],
                strict=True,
            )
        ]
        marker = {"symbol": symbol, "size": 10, "color": colour, "line": {"width": 2}}
        figure.add_trace(dot_trace(before.counts[known], auc[known], name, marker, text))
    top = float(max(10, before.counts.max(initial=1) * 1.2))
    figure.add_hline(y=0.5, line={"color": GREY, "dash": "dash"})
    figure.add_annotation(
        text="a coin", x=1, xref="paper", xanchor="right", y=0.5, yanchor="top", showarrow=False,
        font={"color": GREY},
    )  # fmt: skip
    ticks = [t * 10**e for e in range(5) for t in (1, 2, 5) if t * 10**e <= top]
    figure.update_xaxes(
        title="n, nodes behind the upload", type="log", tickvals=ticks,
        range=[-0.08, math.log10(top)], zeroline=False,
    )  # fmt: skip
    low = min((float(np.nanmin(auc)) for _, auc, *_ in kinds if not np.isnan(auc).all()), default=0)
    figure.update_yaxes(
        title="AUC of the attack", range=[min(0.35, low - 0.05), 1.05], zeroline=False
    )
    return layout(figure, 360)


def ladder(result: Result, rungs: Sequence[Tile]) -> go.Figure:
    """Vectors as pictures in a row, each in its own range; None: nothing was sent."""
    return tiles(result, [rungs])


def verdict(seen: Exposure, i: int) -> str:
    """What the nearest node to one upload is, in words."""
    if seen.nearest[i] < 0:
        return "nothing was sent"
    whose = "not behind it" if not seen.found[i] else "the one behind it"
    if seen.found[i] and seen.counts[i] > 1:
        whose = f"one of the {seen.counts[i]} behind it"
    return f"nearest is node {seen.nearest[i]}, {whose}, cosine {seen.cosine[i]:.2f}"


def _curve(cost: Cost, name: str, colour: str, dash: str) -> Trace:
    text = [
        f"{equation('epsilon', e)}: {with_spread(m, s)} %"
        for e, m, s in zip(cost.epsilons, cost.mean, cost.std, strict=True)
    ]
    x, line = [math.log10(e) for e in cost.epsilons], {"color": colour, "dash": dash}
    look = {"type": "scatter", "mode": "lines+markers", "name": name, "line": line}
    return {**look, "x": x, "y": cost.mean, **hover(text)}
