"""Attack: clients that lie, what their lies break, and what a defence gets back."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.parts import attack_views, attack_who
from pages.shared import frame, link, runs, show
from pages.shared.pinned import pinned_result
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.defences import DEFENCES
from spear_core.figures import attack as figures
from spear_core.measures.spread import mean_and_spread, percent, signed, with_spread
from spear_core.studies.damage import held_by, honest

PICTURES = "Pictures"  # the view that only some datasets have

settings = frame.settings()
state = st.session_state
with st.container():  # each run has room for a word of its own, and there may be two or three
    attacked = runs.result_or_stop(replace(settings, defence="none"))
    clean = runs.result_or_stop(honest(settings))
    defended = runs.result_or_stop(settings) if settings.defence != "none" else None
liars, names = attacked.attackers, attacked.graph.names
seen = attack_views.Seen(
    settings, clean, attacked, defended, pinned_result(attacked), held_by(liars, settings)
)


def clicked(cell: Any) -> None:
    """A click on the heat map turns that client."""
    attack_who.toggle(liars, int(cell[0]))


def metric(column: Any, name: str, now: float | None, then: float | None, help: str) -> None:
    """An accuracy and how far it is from another; a line stands there when nothing changed."""
    moved = None if now is None or then is None else 100 * (now - then)
    change = "–" if moved is None else f"{signed(moved)} points" if moved else "no change"
    look = ("normal", "auto") if moved else ("off", "off")
    column.metric(name, percent(now), change, delta_color=look[0], delta_arrow=look[1], help=help)


# who lies, and what that does ------------------------------------------------------------------
left, right = st.columns([5, 4])
with left:
    said = "Nobody lies yet. Click a row and that client does; or choose who on the right."
    if liars:
        said = f"{len(liars)} of {settings.clients} clients lie (framed); they hold "
        said += f"{seen.share:.0f} % of the training nodes."
        dropped = f" The server drops {len(attacked.rejected)} uploads: they cannot be true."
        said += dropped * bool(attacked.rejected)
    show.sentence(f"Training nodes of every client and class. {said}", "attack")
    code = f"{attack_views.RUNS}draw.liars(attacked)"
    show.chart(figures.liars(attacked), "attack_heat", said, on_pick=clicked, code=code)
    before, lied = clean.metrics.accuracy, attacked.metrics.accuracy
    first, second = st.columns(2)
    metric(first, "Nobody lies", before, before, "The same run when every client is honest.")
    metric(second, "Attacked", lied, before, "Against the run in which nobody lies.")
    now = defended.metrics.accuracy if defended else None
    named = f"Defended: {DEFENCES[settings.defence].words}"
    metric(first, named, now, lied if liars else before, "Against no defence.")
    oracle = runs.accuracy_of(replace(settings, defence="oracle"))
    words = "Knows who lies and drops all they sent: a yardstick, since nobody knows that."
    metric(second, "Oracle", oracle, lied, words)
    spread = st.container()
with right:
    attack_who.who(attacked)
    st.markdown("##### What they do")
    attack_who.what(names)
    st.markdown("##### What the server does")
    attack_who.defence()

# one view at a time ----------------------------------------------------------------------------
views = [
    v for v in link.choices("attack_view") if v != PICTURES or CATALOGUE[settings.dataset].picture
]
if state["attack_view"] not in views:
    state["attack_view"] = views[0]
view = show.switch("View", views, "attack_view", label_visibility="collapsed")
tables, lines = attack_views.VIEWS[view](seen)
with st.expander(f"What was out of the ordinary ({len(seen.last.notes)})"):
    st.markdown("\n".join(f"- {note}" for note in seen.last.notes) or "Nothing.")
part, sizes = attacked.partition, attacked.partition.train_counts.sum(1).tolist()
who = {"client": range(settings.clients), "nodes": part.sizes.tolist(), "training nodes": sizes}
who["lies"] = [k in liars for k in range(settings.clients)]
show.export({"clients": pd.DataFrame(who), **tables})
said = "print(r.attackers, r.metrics.accuracy, r.metrics.class_accuracy)"
show.same_in_python(settings, f"Lying clients on {settings.dataset}", said, *lines)

# the further runs come last, so that nothing above waits for them --------------------------------
if seen.small and before is not None:
    others = {"nobody lies": honest(settings), "attacked": replace(settings, defence="none")}
    if defended:
        others["defended"] = settings
    others["oracle"] = replace(settings, defence="oracle")
    each = []
    for name, one in others.items():
        values = [100 * v for v in runs.over_seeds(one) if v is not None]
        each.append(f"{name} {with_spread(*mean_and_spread(values))} %")
    spread.caption(f"Above this seed; mean ± standard deviation of five seeds: {', '.join(each)}.")
