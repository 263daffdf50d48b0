"""Attack: clients that lie, what their lies break, and what a defence gets back."""

from dataclasses import replace
from statistics import mean, pstdev
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import attack_paper, attack_who
from pages.shared import frame, link, mapview, runs, show
from pages.shared.livemap import live_map
from pages.shared.pinned import pinned_result, same_graph
from spear_core import Settings, embed
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.damage import words
from spear_core.figures import attack as figures
from spear_core.figures.common import class_names
from spear_core.figures.map import alt_text, map_figure
from spear_core.figures.map.pinned import with_pinned
from spear_core.studies.damage import Defended, Draw, compare, damage, held_by, honest, table

CLASSES, MAP, PICTURES, DAMAGE, DEFENCES, PAPER = link.choices("attack_view")

COLUMNS = {  # of the comparison of defences, in words
    "accuracy": "attacked, %",
    "std": "± over seeds",
    "recovered": "recovered, %",
    "clean": "nobody lies, %",
    "clean_cost": "cost when nobody lies",
}

settings = frame.settings()
state = st.session_state
attacked = runs.result_or_stop(replace(settings, defence="none"))
clean = runs.result_or_stop(honest(settings))
defended = runs.result_or_stop(settings) if settings.defence != "none" else None
liars, names, graph = attacked.attackers, class_names(attacked), attacked.graph
pinned = pinned_result(attacked)
share = held_by(liars, settings)


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f} %"


def points(now: float | None, then: float | None, word: str) -> str | None:
    return None if now is None or then is None else f"{100 * (now - then):+.2f} {word}"


def clicked() -> None:
    """A click on the heat map turns that client."""
    points = state[heat_key]["selection"]["points"]
    if points:
        data: Any = points[0]["customdata"]
        state["_attack_clicks"] = state.get("_attack_clicks", 0) + 1
        attack_who.toggle(liars, int(data[0] if isinstance(data, list) else data["0"]))


@st.cache_data(max_entries=64, show_spinner="60 draws of liars …")
def drawn(settings: Settings) -> list[Draw]:
    return damage(settings, accuracy=runs.accuracy_of)


@st.cache_data(max_entries=64, show_spinner="Every defence with five seeds …")
def compared(settings: Settings) -> list[Defended]:
    return compare(settings, accuracy=runs.accuracy_of)


# clean, attacked, defended, and the yardstick --------------------------------------------------
oracle = runs.accuracy_of(replace(settings, defence="oracle"))
before, lied = clean.metrics.accuracy, attacked.metrics.accuracy
numbers = st.columns(4)
numbers[0].metric("Nobody lies", percent(before))
numbers[1].metric("Attacked", percent(lied), points(lied, before, "points") if liars else None)
if defended:
    now = defended.metrics.accuracy
    change = points(now, lied, "against attacked") if liars else points(now, before, "points")
    numbers[2].metric(f"Defended: {settings.defence}", percent(now), change)
else:
    numbers[2].metric("Defended", "–", help="Choose a defence below.")
numbers[3].metric(
    "Oracle",
    percent(oracle),
    points(oracle, lied, "against attacked") if liars else None,
    help="Knows who lies and drops all they sent: a yardstick, since nobody knows that.",
)
spread = st.empty()

# who lies, and what they do --------------------------------------------------------------------
left, right = st.columns([3, 2])
with left:
    st.markdown("#### Who holds what, and who lies")
    st.caption("Training nodes of every client and class. Click a row: that client begins to lie.")
    heat_key = f"attack_heat_{state.get('_attack_clicks', 0)}"  # new after a click: none selected
    said = f"{len(liars)} of {settings.clients} clients lie; they hold {share:.0f} % of the "
    said += "training nodes."
    figure = figures.liars(attacked)
    show.chart(figure, heat_key, said, on_select=clicked, selection_mode="points")
    if liars:
        dropped = f" The server drops {len(attacked.rejected)} uploads: they cannot be true."
        st.markdown(said + dropped * bool(attacked.rejected))
    else:
        st.info("Nobody lies yet: click a client in the picture, or begin with three.")
        for column, rule in zip(st.columns(3), ("random", "smallest", "largest"), strict=True):
            three = {"attackers": rule, "attacker_count": 3}
            column.button(f"Three {rule}", on_click=attack_who.take, kwargs=three, width="stretch")
with right:
    attack_who.who(attacked)
    st.markdown("#### What they do")
    attack_who.what(names)
    st.markdown("#### What the server does")
    attack_who.defence()

# one view at a time ----------------------------------------------------------------------------
views = [
    v for v in link.choices("attack_view") if v != PICTURES or CATALOGUE[settings.dataset].picture
]
if state["attack_view"] not in views:
    state["attack_view"] = CLASSES
view = show.switch("View", views, "attack_view", label_visibility="collapsed")
stages = {"clean": clean, "attacked": attacked} | ({"defended": defended} if defended else {})
tables: dict[str, Any] = {
    "classes": pd.DataFrame(
        {"class": names} | {name: one.metrics.class_accuracy for name, one in stages.items()}
    )
}
lines = ["print(r.attackers, r.metrics.accuracy, r.metrics.class_accuracy)"]
small = graph.num_nodes <= runs.SMALL
if view == CLASSES:
    other = same_graph(pinned, attacked)
    lost = [
        (a - b, name)
        for a, b, name in zip(
            clean.metrics.class_accuracy, attacked.metrics.class_accuracy, names, strict=True
        )
        if a is not None and b is not None
    ]
    worst, which = max(lost, default=(0.0, ""))
    said = f"Class {which} loses most: {100 * worst:.0f} points." if worst > 0 else "None loses."
    st.markdown(f"Look for the classes the liars name and those they took from. {said}")
    bars = stages | ({"pinned": other} if other else {})
    show.chart(figures.class_bars(bars), "attack_classes", f"Accuracy of each class. {said}")
elif view == MAP:
    said = "Rings mark what liars sent; trails lead from where prototypes lie when nobody lies."
    st.caption(f"{said} A hollow one is unlike any node.")
    made = embed.ready(graph, settings.alpha, settings.steps)
    shown = made or embed.preview(graph, settings.alpha, settings.steps)
    last = defended or attacked
    figure = map_figure(shown, last, show=state["show"], colour=state["colour"], before=clean)
    figure = with_pinned(figure, shown, last, same_graph(pinned, attacked), state["show"])
    if state["show"] != "global":
        figures.with_liars(figure, shown, last)
    live_map(figure, key="attack_map", alt=f"{alt_text(shown, last)} {said}", height=480)
    with st.container(horizontal=True):
        show.switch("Prototypes", link.choices("show"), "show")
        show.switch("Colour by", link.choices("colour"), "colour")
    if made is None:
        mapview.wait(settings.dataset, settings.alpha, settings.steps, graph)
elif view == PICTURES:
    if liars and len(attacked.sent.client):
        st.caption("Above what a liar holds, below what it sends; orange is below zero.")
        show.chart(figures.sent_pictures(attacked), "attack_sent", "What liars hold and send.")
    st.caption("The global prototypes: look which of them turn into another.")
    said = f"Global prototypes, {', '.join(stages)}."
    show.chart(figures.global_pictures(stages), "attack_global", said)
elif before is None:
    st.info("There is no test node, so accuracy cannot be measured.")
elif view == DAMAGE:
    plain = replace(settings, attackers="random", attacker_count=0, chosen="", draw=0)
    st.markdown(
        "60 random draws of 1 to 5 liars on this split, with the defence that is chosen: look how "
        "accuracy falls with the share of the training nodes that liars hold."
    )
    if small or st.button("Make the 60 runs"):
        found = drawn(plain)
        reached = (defended or attacked).metrics.accuracy
        here = Draw(liars, share, 100 * reached) if liars and reached is not None else None
        then = pinned.metrics.accuracy if pinned else None
        figure = figures.damage_dots(found, 100 * before, here, 100 * then if then else None)
        tables["damage"] = pd.DataFrame(found)
        along = tables["damage"]["share"].corr(tables["damage"]["accuracy"])
        said = f"Correlation of accuracy with the share held: {along:.2f}."
        show.chart(figure, "attack_damage", said)
        st.caption(said)
    lines += ["from spear_core.studies.damage import damage", "print(damage(s))"]
elif view == DEFENCES:
    if not liars:
        st.info("Nobody lies yet, so there is nothing to defend against.")
    elif small or st.button("Make the runs: every defence, five seeds"):
        rows = compared(replace(settings, defence="none", seed=42))
        said = words(rows)
        st.markdown(said)
        show.chart(figures.defence_dots(rows), "attack_defences", said)
        tables["defences"] = pd.DataFrame(table(rows))
        st.dataframe(tables["defences"].rename(columns=COLUMNS), hide_index=True)
        st.caption(
            "Means over the paper's five seeds, in percent; std over them. Recovered: share of the "
            "gap between undefended and oracle; it may exceed 100, as clean accuracy is the bound."
        )
    lines += ["from spear_core.explain.damage import words"]
    lines += ["from spear_core.studies.damage import compare", "print(words(compare(s)))"]
else:
    tables |= attack_paper.draw(settings)
    lines += ["from spear_core.paper.byzantine import beside_the_paper"]
    lines += ["from spear_core.paper import measured"]
    lines += ['print(*beside_the_paper(measured.read()), sep="\\n")']

last = defended or attacked
if last.rejected or last.notes:
    with st.expander(f"What was out of the ordinary ({len(last.notes)})"):
        st.markdown("\n".join(f"- {note}" for note in last.notes))
show.export(tables)
show.same_in_python(settings, f"Lying clients on {settings.dataset}", *lines)

# the further runs come last, so that nothing above waits for them --------------------------------
if small and before is not None:
    others = {"nobody lies": honest(settings)}
    if liars:
        others["attacked"] = replace(settings, defence="none")
    if defended:
        others[f"defended by {settings.defence}"] = settings
    if liars:
        others["oracle"] = replace(settings, defence="oracle")
    each = []
    for name, one in others.items():
        values = [100 * v for v in runs.over_seeds(one) if v is not None]
        each.append(f"{name} {mean(values):.1f} ± {pstdev(values):.1f} %")
    spread.caption(f"Above this seed; mean ± standard deviation of five seeds: {', '.join(each)}.")
