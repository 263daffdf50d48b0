"""What every figure shares: class names, colours and margins."""

import plotly.graph_objects as go

from spear_core.run import Result

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8A8A8A"  # colour-blind safe


def class_names(result: Result) -> list[str]:
    """A name for every class: its own, or its number."""
    graph = result.graph
    return list(graph.class_names) or [str(c) for c in range(graph.classes)]


def layout(figure: go.Figure, height: int, **more: object) -> go.Figure:
    """The figure with narrow margins, a legend above it, and a transparent ground."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        **more,
    )
    return figure
