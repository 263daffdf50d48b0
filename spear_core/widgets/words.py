"""What the explorer says in plain HTML: a run in numbers, a weight, the card of a node."""

from collections.abc import Sequence
from html import escape

from spear_core.explain.node import View, role_of
from spear_core.explain.words import explain, pulled_towards, weight_formula
from spear_core.fields import changed
from spear_core.figures.card import BARS, builder_bars, similarity_bars
from spear_core.measures.spread import mean_and_spread, percent, points, with_spread
from spear_core.run import Result
from spear_core.settings import Settings, equation


def number(result: Result, before: Result | None) -> str:
    """The accuracy, and how it has changed since the run before."""
    now, then = result.metrics.accuracy, before.metrics.accuracy if before else None
    since = ""
    if now is not None and then is not None:
        since = f"{points(100 * (now - then))} since the last setting"
    return _figure("Accuracy on test nodes", percent(now), since, "spear-accuracy")


def further(accuracy: float | None, seeds: Sequence[float], plain: float | None) -> str:
    """The spread over seeds and what is won over a plain mean, where they are known."""
    out = []
    if seeds:
        mean, std = mean_and_spread(seeds)
        out.append(_figure("Mean of five seeds", f"{with_spread(100 * mean, 100 * std)} %"))
    if accuracy is not None and plain is not None:
        out.append(_figure("Over the plain mean", points(100 * (accuracy - plain))))
    return "".join(out)


def silhouette(result: Result) -> str:
    ends = (result.metrics.silhouette_raw, result.metrics.silhouette_smoothed)
    return "silhouette " + " → ".join("–" if v is None else f"{v:.3f}" for v in ends)


def caption(text: str) -> str:
    return f'<p class="spear-caption">{escape(text)}</p>'


def error(text: str) -> str:
    return f'<p class="spear-error" role="alert">{escape(text)}</p>' if text else ""


def weight(result: Result, chosen: tuple[int, int] | None) -> str:
    """How the λ of a chosen prototype comes about."""
    if chosen is None:
        return ""
    client, label = chosen
    where = f"Client {client}, class {result.graph.names[label]}"
    formula, pull = weight_formula(result, client, label), pulled_towards(result, client, label)
    return f"<p>{escape(where)}: <b>{escape(formula)}</b>. {escape(pull)}</p>"


def card(result: Result, view: View | None) -> str:
    """Why a node is right or wrong."""
    if view is None:
        return ""
    graph = result.graph
    verdict = "right" if view.right else "wrong"
    head = f"Node {view.node}: class {graph.names[view.true]}, {verdict}"
    role = f"A {role_of(graph, view.node)} node of client {int(result.partition.owner[view.node])}"
    named = graph.names[view.predicted]
    what = "Similarity to the prototypes" if view.measure == "similarity" else "Scores"
    return (
        f'<style>{BARS}</style><div class="spear-card"><p><b>{escape(head)}</b></p>'
        f"{caption(f'{role}, named {named}.')}<p>{escape(explain(result, view))}</p>"
        f"{caption(f'{what} after smoothing; the tick is before.')}{similarity_bars(result, view)}"
        f"{caption(f'Who built prototype {named}.')}{builder_bars(result, view)}</div>"
    )


def in_a_line(settings: Settings) -> str:
    """The run in a line, below the title of a saved picture."""
    names = ("clients", "beta", "alpha", "steps", "gamma", "seed")
    return " · ".join([settings.dataset, *(equation(n, getattr(settings, n)) for n in names)])


def apart(settings: Settings, other: Settings) -> str:
    """What one of two runs has that the other has not, above its map."""
    named = [name for name in changed(settings, other) if name != "device"]
    return ", ".join(equation(n, getattr(settings, n)) for n in named) or settings.dataset


def _figure(label: str, value: str, more: str = "", kind: str = "") -> str:
    return (
        f'<div class="spear-figure {kind}"><span>{escape(label)}</span><b>{escape(value)}</b>'
        f"<small>{escape(more)}</small></div>"
    )
