"""Learn: the method in seven steps, a question before every picture."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.parts import learn_control, learn_steps
from pages.shared import controls, frame, link, runs, show
from spear_core import SpearError, defaults

GRAPHS = ("digits", "karate")
TEACHING = Path(__file__).parents[1] / "docs" / "teaching.md"


def go_to(step: int) -> None:
    st.session_state["learn"] = str(step)


def use(dataset: str) -> None:
    """Start the lesson over on this graph."""
    controls.put(defaults(dataset))
    st.session_state["_learn_seen"] = set()


settings = frame.settings()
if settings.dataset not in GRAPHS:
    settings = replace(defaults("digits"), seed=settings.seed)
state, last = st.session_state, len(learn_steps.STEPS)
seen: set[int] = state.setdefault("_learn_seen", set())
number = int(state["learn"])
title, idea, make, knob = learn_steps.STEPS[number - 1]

top, graph = st.columns([3, 1], vertical_alignment="bottom")
with top:
    steps = link.choices("learn")
    show.switch("Step", steps, "learn", format_func=lambda i: f"{i} ✓" if int(i) in seen else i)
other = next(name for name in GRAPHS if name != settings.dataset)
graph.button(f"Use {other} instead", on_click=use, args=(other,), width="stretch")
st.markdown(f"### {number}. {title}")
st.markdown(idea)
value = learn_control.control(knob)
try:
    result = runs.result_or_stop(settings)
    task = make(result, value)
except SpearError as error:
    st.warning(str(error))
    st.stop()

if task.shown is not None:
    show.chart(task.shown, "learn-shown", "The node as a picture.")
chosen = st.radio(f"**{task.question}**", task.choices, index=None, key=f"learn_answer_{number}")
if chosen is not None:
    seen.add(number)
if number in seen:
    right = task.choices[task.answer]
    if chosen == right:
        st.success(f"Yes: {right}. {task.told}")
    elif chosen is not None:
        st.info(f"It is: {right}. {task.told}")
    else:
        st.caption(task.told)
    st.latex(task.formula)
    show.chart(task.figure, f"learn-{number}", f"{task.question} {right}. {task.told}")
else:
    st.caption("Choose an answer: the formula and the picture follow.")

back, forward = st.columns(2)
back.button("Back", on_click=go_to, args=(number - 1,), disabled=number == 1, width="stretch")
if number < last:
    forward.button(
        f"Next: {learn_steps.STEPS[number][0].lower()}",
        on_click=go_to,
        args=(number + 1,),
        type="primary",
        width="stretch",
    )
else:
    forward.page_link("pages/explore.py", label="Now explore it", icon=":material/explore:")
with st.expander("For teachers: a 10-minute and a 45-minute plan", icon=":material/school:"):
    st.markdown(TEACHING.read_text())
show.same_in_python(
    settings,
    "SPEAR in seven steps",
    "print(r.metrics.accuracy, r.uploads.counts.tolist())",
    "figures.weights(r).show()",
)
