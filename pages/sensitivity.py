"""Sensitivity: what depends on what, five seeds at every point, each point a click away."""

import streamlit as st

from pages.parts import sensitivity_sweeps
from pages.shared import estimator, frame, link, runs, show
from spear_core.figures import sweep as figures
from spear_core.settings import symbol

ONE, TWO, HOMOPHILY = link.choices("sens")

settings = frame.settings()
result = runs.result_or_stop(settings)
large = not runs.quick(result)
st.caption("Mean over the paper's five seeds, the band is ± one standard deviation. Click a point "
           "to open the explorer there.")  # fmt: skip
view = show.switch("View", link.choices("sens"), "sens", label_visibility="collapsed")
knobs = link.choices("sens_x")
swept: tuple[str, ...]
if large and not st.toggle("Sweep this large graph: it takes a while, and is kept", key="sens_go"):
    st.stop()
if view == ONE:
    a, b = st.columns([1, 2])
    with a:
        knob = show.switch("Knob", knobs, "sens_x", format_func=symbol)
    others = [name for name in sensitivity_sweeps.at_hand() if name != settings.dataset]
    more = [name for name in st.session_state[link.BESIDE] if name in others]
    st.session_state[link.BESIDE] = more
    if show.shown(link.BESIDE):
        b.multiselect("Beside it", others, key=link.BESIDE, placeholder="Other datasets",
                      max_selections=link.MOST_BESIDE)  # fmt: skip
    table = sensitivity_sweeps.table(settings, (knob,), (settings.dataset, *more))
    figure, alt = figures.curve(table, knob, here=settings), f"Accuracy over {symbol(knob)}."
    code = sensitivity_sweeps.lines(settings, (knob,), (settings.dataset, *more))
    code += f'\ndraw.curve(table, "{knob}", here=s)'
    point = show.chart(figure, f"sens-{knob}", alt, picks=True, code=code)
    sensitivity_sweeps.take(point, ("dataset", knob), settings)
    swept = (knob,)
elif view == TWO:
    a, b = st.columns(2)
    with a:
        x = show.switch("Across", knobs, "sens_x", format_func=symbol)
    rest = [name for name in knobs if name != x]
    if st.session_state["sens_y"] not in rest:
        st.session_state["sens_y"] = rest[0]
    with b:
        y = show.switch("Up", rest, "sens_y", format_func=symbol)
    with st.spinner("Five seeds at every cell …", show_time=True):
        table = sensitivity_sweeps.table(settings, (x, y), (settings.dataset,))
    figure = figures.heat(table, x, y, here=settings)
    alt = f"Accuracy over {symbol(x)} and {symbol(y)}."
    code = sensitivity_sweeps.lines(settings, (x, y), (settings.dataset,))
    code += f'\ndraw.heat(table, "{x}", "{y}", here=s)'
    point = show.chart(figure, f"sens-{x}-{y}", alt, picks=True, code=code)
    sensitivity_sweeps.take(point, (x, y), settings)
    swept = (x, y)
else:
    st.caption(
        "Each dot is a dataset: the share of its edges that join equal classes, and the α with the "
        "best mean accuracy. Where neighbours are alike, listening to them pays."
    )
    names = tuple(name for name in sensitivity_sweeps.at_hand() if name != "synthetic")
    small = sensitivity_sweeps.built_in()
    every = f"All {len(names)} datasets at hand: it takes a minute the first time, and is kept"
    if len(names) > len(small) and not st.toggle(every, key="sens_all"):
        names = small  # a link alone starts no work that others would wait for
    with st.spinner("Sweeping α on every dataset at hand …", show_time=True):
        table = sensitivity_sweeps.homophily(settings, names)
    figure, swept = figures.best(table), ("alpha",)
    code = sensitivity_sweeps.best_lines(settings, names) + "\ndraw.best(table)"
    alt = "Best α against homophily, a dot a dataset."
    show.chart(figure, "sens-homophily", alt, code=code)
show.export(sensitivity_sweeps.files(table, swept))
show.same_in_python(
    settings,
    f"Sensitivity of {estimator.name_of(settings)}",
    *code.splitlines()[:-1],
    "print(table.head())",
)
