"""Learn: the method in seven steps and one beyond it, a question before every picture."""

from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.parts import learn_control
from pages.shared import controls, foot, frame, link, runs, show
from pages.shared.plain import plain
from spear_core import SpearError, defaults
from spear_core.lance import spear
from spear_core.lesson import STEPS

WHAT = {
    "digits": "1,797 small pictures of handwritten digits, each linked to those it resembles",
    "karate": "a club of 34 people, linked where they are friends",
}
GRAPHS = foot.LESSONS
TEACHING = Path(__file__).parents[1] / "docs" / "teaching.md"


def go_to(step: int) -> None:
    st.session_state["learn"] = str(step)


def use(dataset: str) -> None:
    """Start the lesson over on this graph."""
    controls.put(defaults(dataset))
    st.session_state["_learn_seen"] = set()


settings = frame.settings()
on_what = f"The lesson is on **{settings.dataset}**, {WHAT.get(settings.dataset, '')}."
if settings.dataset not in GRAPHS:
    on_what = (
        f"The lesson is on **digits**, {WHAT['digits']}, whatever dataset is chosen elsewhere."
    )
    settings = replace(defaults("digits"), seed=settings.seed)
settings = spear(settings)  # the lesson is about it, whichever estimator is chosen
state, last = st.session_state, len(STEPS)
seen: set[int] = state.setdefault("_learn_seen", set())
number = int(state["learn"])
title, idea, make, knob = STEPS[number - 1]

top, graph = st.columns([3, 1], vertical_alignment="bottom")
with top:
    steps = link.choices("learn")
    show.switch("Step", steps, "learn", format_func=lambda i: f"{i} ✓" if int(i) in seen else i)
other = next(name for name in GRAPHS if name != settings.dataset)
graph.button(f"Use {other} instead", on_click=use, args=(other,), width="stretch")
st.markdown(f"### {number}. {title}")
st.markdown(f"{idea} {on_what}")
value = learn_control.control(knob)
try:
    result = runs.result_or_stop(settings)
    task = make(result, value)
except SpearError as error:
    st.warning(plain(error, 500))
    st.stop()

picture, asked = st.columns([3, 2])
with asked:
    chosen = st.radio(
        f"**{task.question}**", task.choices, index=None, key=f"learn_answer_{number}"
    )
    if chosen is not None:
        seen.add(number)
    right = task.choices[task.answer]
    with st.container(key="lines4_learn_told"):
        if number not in seen:
            st.caption("Choose an answer: the picture is completed, and the formula follows.")
        elif chosen == right:
            st.success(f"Yes: {right}. {task.told}")
        elif chosen is not None:
            st.info(f"It is: {right}. {task.told}")
        else:
            st.caption(task.told)
    with st.container(key="lines3_learn_formula"):
        if number in seen:
            st.latex(task.formula)
with picture:
    code = "from spear_core.lesson import STEPS\n"
    code += f"task = STEPS[{number - 1}][2](r, {value})\n"
    if number in seen:
        alt = f"{task.question} {right}. {task.told}"
        show.chart(task.figure, f"learn-{number}-told", alt, code=f"{code}task.figure")
    else:
        alt = f"{task.question} The answer is hidden."
        show.chart(task.shown, f"learn-{number}", alt, code=f"{code}task.shown")

back, forward = st.columns(2)
back.button("Back", on_click=go_to, args=(number - 1,), disabled=number == 1, width="stretch")
if number < last:
    forward.button(
        f"Next: {STEPS[number][0].lower()}",
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
    "SPEAR in seven steps, and one beyond",
    "print(r.metrics.accuracy, r.uploads.counts.tolist())",
)
