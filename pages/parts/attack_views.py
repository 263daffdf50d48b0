"""The views of the Attack page: each draws itself and gives its tables and its lines of Python."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import attack_paper
from pages.shared import drawn as drawn_lines
from pages.shared import link, mapview, runs, show
from pages.shared.livemap import live_map
from pages.shared.pinned import same_graph
from spear_core import Result, Settings, embed
from spear_core.defences import DEFENCES
from spear_core.explain.damage import words
from spear_core.figures import attack as figures
from spear_core.figures.map import alt_text, map_figure
from spear_core.figures.map.pinned import with_pinned
from spear_core.lance.gate import at_test
from spear_core.studies.damage import Defended, Draw, compare, damage, table

COLUMNS = {  # of the comparison of defences, in words
    "accuracy": "attacked, %",
    "std": "± over seeds",
    "recovered": "recovered, %",
    "clean": "nobody lies, %",
    "clean_cost": "cost when nobody lies, points",
}
Shown = tuple[dict[str, Any], list[str]]
RUNS = """from dataclasses import replace
from spear_core.figures import attack as draw
from spear_core.studies.damage import honest
attacked, clean = run(replace(s, defence="none")), run(honest(s))
"""
DAMAGE = """from spear_core.studies.damage import Draw, damage, held_by
found = damage(replace(s, attackers="random", attacker_count=0, chosen="", draw=0))
here = Draw(attacked.attackers, held_by(attacked.attackers, s), 100 * r.metrics.accuracy)
"""


@dataclass(frozen=True)
class Seen:
    """The runs of the page: nobody lies, attacked, defended, and what was pinned."""

    settings: Settings
    clean: Result
    attacked: Result
    defended: Result | None
    pinned: Result | None
    share: float  # of the training nodes, held by the liars, in percent

    @property
    def last(self) -> Result:
        """The run with all that is switched on."""
        return self.defended or self.attacked

    @property
    def stages(self) -> dict[str, Result]:
        """The runs by name, in their order."""
        runs = {"clean": self.clean, "attacked": self.attacked}
        return runs | ({"defended": self.defended} if self.defended else {})

    @property
    def small(self) -> bool:
        """Whether many runs are made without asking."""
        return runs.quick(self.attacked)


@st.cache_data(max_entries=64, show_spinner="60 draws of liars …")
def drawn(settings: Settings) -> list[Draw]:
    return damage(settings, accuracy=runs.accuracy_of)


@st.cache_data(max_entries=64, show_spinner="Every defence with five seeds …")
def compared(settings: Settings) -> list[Defended]:
    return compare(settings, accuracy=runs.accuracy_of)


def classes(seen: Seen) -> Shown:
    """Accuracy of each class, run by run."""
    names, other = seen.attacked.graph.names, same_graph(seen.pinned, seen.attacked)
    before, after = (one.metrics.class_accuracy for one in (seen.clean, seen.attacked))
    lost = [
        (a - b, name)
        for a, b, name in zip(before, after, names, strict=True)
        if a is not None and b is not None
    ]
    worst, which = max(lost, default=(0.0, ""))
    said = f"Class {which} loses most: {100 * worst:.0f} points." if worst > 0 else "None loses."
    st.markdown(f"Look for the classes the liars name and those they took from. {said}")
    bars = seen.stages | ({"pinned": other} if other else {})
    also = ', "pinned": pinned' if other else ""
    code = f"draw.class_bars({{{_stages(seen)}{also}}})"
    told = f"Accuracy of each class. {said}"
    show.chart(figures.class_bars(bars), "attack_classes", told, code=code)
    rows = {name: one.metrics.class_accuracy for name, one in seen.stages.items()}
    return {"classes": pd.DataFrame({"class": names} | rows)}, []


def on_map(seen: Seen) -> Shown:
    """Where the lies lie."""
    state, settings, last = st.session_state, seen.settings, seen.last
    said = "Rings mark what liars sent; trails lead from where prototypes lie when nobody lies."
    st.markdown(f"{said} A hollow one is unlike any node.")
    now = at_test(last.graph, settings)
    made = embed.ready(last.graph, now.alpha, now.steps)
    shown = made or embed.preview(last.graph, now.alpha, now.steps)
    figure = map_figure(shown, last, show=state["show"], colour=state["colour"], before=seen.clean)
    figure = with_pinned(figure, shown, last, same_graph(seen.pinned, last), state["show"])
    if state["show"] != "global":
        figures.with_liars(figure, shown, last)
    told = f"{alt_text(shown, last)} {said}"
    live_map(figure, key="attack_map", alt=told, height=480)
    code = f'map_figure(plane, r, "{state["show"]}", "{state["colour"]}", before=clean)'
    if same_graph(seen.pinned, last):
        code = f"with_pinned({code}, plane, r, pinned, {state['show']!r})"
        code = f"from spear_core.figures.map.pinned import with_pinned\nfigure = {code}"
    else:
        code = f"figure = {code}"
    last_line = "figure" if state["show"] == "global" else "draw.with_liars(figure, plane, r)"
    drawn_lines.add(f"{mapview.PLANE}\n{code}\n{last_line}", told)
    with st.container(horizontal=True):
        show.switch("Prototypes", link.choices("show"), "show")
        show.switch("Colour by", link.choices("colour"), "colour")
    if made is None:
        mapview.wait(settings)
    return {}, []


def pictures(seen: Seen) -> Shown:
    """What liars hold and send, and what becomes of the global prototypes."""
    if seen.attacked.attackers and len(seen.attacked.sent.client):
        st.markdown("Above what a liar holds, below what it sends; orange is below zero.")
        figure, told = figures.sent_pictures(seen.attacked), "What liars hold and send."
        show.chart(figure, "attack_sent", told, code="draw.sent_pictures(attacked)")
    st.markdown("The global prototypes: look which of them turn into another.")
    said = f"Global prototypes, {', '.join(seen.stages)}."
    code = f"draw.global_pictures({{{_stages(seen)}}})"
    show.chart(figures.global_pictures(seen.stages), "attack_global", said, code=code)
    return {}, []


def over_draws(seen: Seen) -> Shown:
    """Accuracy over what liars hold, for 60 draws of them."""
    lines = ["from spear_core.studies.damage import damage", "print(damage(s))"]
    clean, reached = seen.clean.metrics.accuracy, seen.last.metrics.accuracy
    if clean is None or reached is None:
        return _untested()
    st.markdown(
        "60 random draws of 1 to 5 liars on this split, with the defence that is chosen: look how "
        "accuracy falls with the share of the training nodes that liars hold."
    )
    if not (seen.small or st.button("Make the 60 runs")):
        return {}, lines
    some = replace(seen.settings, attackers="random", attacker_count=0, chosen="", draw=0)
    found, liars = drawn(some), seen.attacked.attackers
    here = Draw(liars, seen.share, 100 * reached) if liars else None
    then = seen.pinned.metrics.accuracy if seen.pinned else None
    figure = figures.damage_dots(found, 100 * clean, here, 100 * then if then else None)
    made = pd.DataFrame(found)
    said = (
        f"Correlation of accuracy with the share held: {made['share'].corr(made['accuracy']):.2f}."
    )
    also = ", here" if here else ", None"
    also += ", 100 * pinned.metrics.accuracy" if then else ""
    code = f"{DAMAGE}draw.damage_dots(found, 100 * clean.metrics.accuracy{also})"
    show.chart(figure, "attack_damage", said, code=code)
    st.caption(said)
    return {"damage": made}, lines


def defences(seen: Seen) -> Shown:
    """Every defence against these liars, and what it costs when nobody lies."""
    lines = ["from spear_core.explain.damage import words"]
    lines += ["from spear_core.studies.damage import compare", "print(words(compare(s)))"]
    if seen.clean.metrics.accuracy is None:
        return _untested()
    if not (seen.small or st.button("Make the runs: every defence, five seeds")):
        return {}, lines
    rows = compared(replace(seen.settings, defence="none", seed=42))
    said = words(rows)
    st.markdown(said)
    code = "from spear_core.studies.damage import compare\n"
    code += 'draw.defence_dots(compare(replace(s, defence="none", seed=42)))'
    show.chart(figures.defence_dots(rows), "attack_defences", said, code=code)
    made = pd.DataFrame(table(rows))
    named = made.assign(defence=[DEFENCES[name].words for name in made["defence"]])
    st.dataframe(named.rename(columns=COLUMNS), hide_index=True)
    st.caption(
        "Means over the paper's five seeds, in percent; std over them. Recovered: share of the "
        "gap between undefended and oracle; it may exceed 100, as clean accuracy is the bound. "
        "None where nobody lies or that gap is under half a point."
    )
    return {"defences": made}, lines


def paper(seen: Seen) -> Shown:
    """The paper's table beside ours."""
    lines = ["from spear_core.paper.byzantine import beside_the_paper"]
    lines += ["from spear_core.paper import measured"]
    lines += ['print(*beside_the_paper(measured.read()), sep="\\n")']
    return attack_paper.draw(seen.settings), lines


def _stages(seen: Seen) -> str:
    """The runs of the page by name, as a notebook has them."""
    runs = {"clean": "clean", "attacked": "attacked", "defended": "r"}
    return ", ".join(f'"{name}": {runs[name]}' for name in seen.stages)


def _untested() -> Shown:
    st.info("There is no test node, so accuracy cannot be measured.")
    return {}, []


VIEWS: dict[str, Callable[[Seen], Shown]] = dict(
    zip(
        link.choices("attack_view"),
        (classes, on_map, pictures, over_draws, defences, paper),
        strict=True,
    )
)
