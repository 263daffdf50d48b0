"""Plotly figures of results. Pages and notebooks draw these; the engine never imports them."""

from spear_core.figures.heat import counts, weights

__all__ = ["counts", "weights"]
