"""The paper's maps: local and global prototypes on Cora, global ones on every graph at hand."""

import streamlit as st

from pages.shared import mapview, runs, show
from spear_core import Settings, defaults, embed
from spear_core.datasets import CATALOGUE, store
from spear_core.figures.map import alt_text, map_figure
from spear_core.figures.map.panel import panel
from spear_core.paper.printed import reported

IMPORTS = """from spear_core import defaults, embed
from spear_core.figures.map import map_figure
from spear_core.figures.map.panel import panel
"""


def draw(settings: Settings) -> None:
    """One panel a dataset; a panel is a PCA preview until its UMAP has been made."""
    names = [*reported()["main_accuracy"]["columns"], *reported()["heterophily"]["columns"]]
    here = [n for n in names if store.on_disk(CATALOGUE[n])]
    away = [n for n in names if n not in here]
    if away:
        st.caption(f"Not on this machine: {', '.join(away)}.")
    panels = [("Cora", "local"), ("Cora", "global"), *((n, "global") for n in here if n != "Cora")]
    waiting = []
    for start in range(0, len(panels), 2):
        for column, (name, kind) in zip(st.columns(2), panels[start : start + 2], strict=False):
            if name in here:
                with column:
                    waiting += _panel(name, kind)
    if waiting:  # one after the other
        first, many = waiting[0], len(set(waiting))
        mapview.wait(defaults(first), f"{many} maps to go, now {first}.", f"UMAP of {first}")


def _panel(name: str, kind: str) -> list[str]:
    """One map; the dataset's name if its UMAP is still to be made."""
    s = defaults(name)
    result = runs.result_or_stop(s)
    made = embed.ready(result.graph, s.alpha, s.steps)
    shown = made or embed.preview(result.graph, s.alpha, s.steps)
    st.markdown(f"**{name}**, {kind} prototypes{'' if made else ' (PCA preview)'}")
    figure = panel(map_figure(shown, result, show=kind))
    said = alt_text(shown, result)
    code = f'{IMPORTS}one = run(defaults("{name}"))\n'
    code += "plane = embed.fit(one.graph, one.settings.alpha, one.settings.steps)\n"
    code += f'panel(map_figure(plane, one, show="{kind}"))'
    show.chart(figure, f"paper-map-{name}-{kind}", said, code=code)
    return [] if made else [name]
