"""What the scores of a ridge head are made of, class by class."""

import plotly.graph_objects as go

from spear_core.explain.node import View
from spear_core.explain.ridge_node import Parts
from spear_core.figures.common import layout
from spear_core.figures.palette import BLUE, GREEN, GREY, ORANGE
from spear_core.figures.smooth.node import named
from spear_core.figures.traces import bar_trace
from spear_core.run import Result

ROWS = 6  # classes shown


def score_parts(result: Result, view: View, parts: Parts) -> go.Figure:
    """Bars of the classes with the largest scores, and the node's own, by what gives them."""
    names, seen = result.graph.names, result.estimate.seen.tolist()
    scores = parts.scores.tolist()
    order = sorted((c for c in range(len(names)) if seen[c]), key=lambda c: -scores[c])[:ROWS]
    if view.true not in order and seen[view.true]:
        order[-1] = view.true
    label = [named(names[c], c == view.predicted, c == view.true) for c in order]
    own = [float(parts.of_class(c)[c]) for c in order]
    rest = [float(parts.prototypes[:, c].sum()) - mine for c, mine in zip(order, own, strict=True)]
    figure = go.Figure()
    for name, x, colour in (
        ("share of training nodes", [float(parts.prior[c]) for c in order], GREY),
        ("prototypes of the class", own, BLUE),
        ("prototypes of others", rest, ORANGE),
        ("residuals", [float(parts.residuals[c]) for c in order], GREEN),
    ):
        said = f"%{{y}}: %{{x:+.3f}} from {name}"
        figure.add_trace(bar_trace(x, label, name, colour, said, orientation="h"))
    figure.update_xaxes(title="part of the score", zeroline=True, nticks=6)
    figure.update_yaxes(autorange="reversed", type="category")
    return layout(figure, 340, barmode="relative")
