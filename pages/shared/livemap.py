"""Live maps and charts: one Plotly node each, updated in place, so that zoom and legend survive.

`st.plotly_chart` remounts its chart whenever the figure changes. Plotly's own file comes from the
installed package: the browser fetches it once from this server and keeps it.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st
from streamlit.components import v1, v2

from spear_core.figures.common import as_json
from spear_core.figures.map.script import SCRIPT, STYLE

RUN_LINE = "_run_line"  # of the session: the run in a line, below the title of a saved picture
THEME = """
.map-frame {
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
    css=STYLE + THEME,
    js=SCRIPT + Path(__file__).with_name("livemap_streamlit.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def live_map(figure: go.Figure, key: str, alt: str, height: int = 480) -> dict[str, Any] | None:
    """Show a figure and give the `customdata` of the point that was just clicked, else None.

    Zoom, pan and legend stay as the reader left them while `layout.uirevision` stays the same.
    Traces with `meta="ink"` are drawn in the colour of the text, with `meta="outlined"` their rims
    are. Keys, once the map has the focus:
    + and - zoom, 0 shows all, arrows move, n and p step through the prototypes, j and k through
    the nodes, Enter picks one, Escape leaves it. A node is picked as `{"node": id}`, or None.
    """
    return _live("live-map", figure, key, alt, height, picks=True)


def live_chart(
    figure: go.Figure,
    key: str,
    alt: str,
    config: Mapping[str, Any],
    picks: bool = False,
    on_pick: Callable[[Any], None] | None = None,
) -> Any:
    """Show a figure at its own height; with `picks` the `customdata` that was just clicked.

    `on_pick` is called with it before the page is drawn again.
    """
    height = int(figure.layout.height or 400)

    def changed() -> None:
        if on_pick:
            on_pick(st.session_state[key]["picked"])

    look = {"config": json.dumps(config), "picks": picks or on_pick is not None}
    return _live("live-chart", figure, key, alt, height, changed, **look)


def _live(
    kind: str,
    figure: go.Figure,
    key: str,
    alt: str,
    height: int,
    changed: Callable[[], None] = lambda: None,
    **more: Any,
) -> Any:
    base = st.get_option("server.baseUrlPath").strip("/")
    folder = f"/{base}/component/{_files.name}" if base else f"/component/{_files.name}"
    data = {
        "kind": kind,
        "figure": as_json(figure),
        "alt": alt,
        "height": height,
        "saved": {"title": alt, "settings": st.session_state.get(RUN_LINE, "")},
        "source": f"{folder}/plotly.min.js?{plotly.__version__}",
    }
    shown = _component(key=key, data=data | more, height=height, on_picked_change=changed)
    return shown.get("picked")
