"""A tiny app around the live map, for tests/pages/test_livemap.py."""

import plotly.graph_objects as go
import streamlit as st

from pages.shared.livemap import live_map

shift = st.slider("shift", 0, 10, 0)
figure = go.Figure(
    [
        go.Scattergl(x=[0, 10, 0, 10], y=[0, 0, 10, 10], mode="markers", hoverinfo="skip"),
        go.Scatter(
            x=[3 + shift / 10, 7],
            y=[5, 5],
            mode="markers",
            name="local",
            meta="ink",
            marker={"size": 24, "symbol": "diamond"},
            customdata=[{"client": 3, "label": 1}, {"client": 4, "label": 0}],
        ),
    ],
    {"dragmode": "pan"},
)
picked = live_map(figure, "map", f"Two prototypes, shifted by {shift}.", height=400)
st.text(f"picked {picked}")
if st.checkbox("a second map"):
    live_map(figure, "second", "The same again.")
