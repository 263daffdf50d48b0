"""A map as one of many small pictures: as SVG, since a browser has but a few WebGL contexts."""

import math

import plotly.graph_objects as go

MOST = 900  # nodes in a panel


def panel(figure: go.Figure, height: int = 360) -> go.Figure:
    """The figure without WebGL, with every n-th of its nodes if there are many."""
    every = sum(len(trace.x) for trace in figure.data if trace.meta == "nodes")
    step = math.ceil(every / MOST) or 1
    small = go.Figure(layout=figure.layout).update_layout(height=height, meta=None)
    for trace in figure.data:
        look = trace.to_plotly_json() | {"type": "scatter"}
        if trace.meta == "nodes":
            look |= {"x": trace.x[::step], "y": trace.y[::step]}
            if not isinstance(trace.marker.color, str):
                look["marker"] = look["marker"] | {"color": trace.marker.color[::step]}
        small.add_trace(look)
    return small
