"""The live map: one Plotly node that is updated in place, so that zoom and legend survive reruns.

`st.plotly_chart` remounts its chart whenever the figure changes. Plotly's own file comes from the
installed package: the browser fetches it once from this server and keeps it.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st
from streamlit.components import v1, v2

SOURCE = files("spear_core.figures.map")
THEME = """
.live-map {
  --map-ink: var(--st-text-color); --map-paper: var(--st-background-color);
  --map-font: var(--st-font); --map-accent: var(--st-primary-color);
}
"""

# declared for its folder alone, which Streamlit then serves
_files = v1.declare_component(
    "plotly_files", path=str(Path(plotly.__file__).parent / "package_data")
)
_component = v2.component(
    "spear_live_map",
    css=SOURCE.joinpath("livemap.css").read_text(encoding="utf-8") + THEME,
    js=SOURCE.joinpath("livemap.js").read_text(encoding="utf-8")
    + Path(__file__).with_name("livemap_streamlit.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def live_map(figure: go.Figure, key: str, alt: str, height: int = 480) -> dict[str, Any] | None:
    """Show a figure and give the `customdata` of the point that was just clicked, else None.

    Zoom, pan and legend stay as the reader left them while `layout.uirevision` stays the same.
    Traces with `meta="ink"` are drawn in the colour of the text, with `meta="outlined"` their rims
    are. Keys, once the map has the focus:
    + and - zoom, 0 shows all, arrows move, n and p step through the points, Enter picks one.
    """
    base = st.get_option("server.baseUrlPath").strip("/")
    folder = f"/{base}/component/{_files.name}" if base else f"/component/{_files.name}"
    picked = _component(
        key=key,
        data={
            "figure": figure.to_json(),
            "alt": alt,
            "height": height,
            "source": f"{folder}/plotly.min.js?{plotly.__version__}",
        },
        on_picked_change=lambda: None,
    )
    return picked.get("picked")
