"""Paper: every printed figure of SPEAR beside a measurement of ours, and where it does not hold."""

from collections import Counter
from dataclasses import asdict

import pandas as pd
import streamlit as st

from pages.parts import paper_maps, paper_table
from pages.shared import frame, link, runs, show
from spear_core.figures import paper as figures
from spear_core.paper import findings, measured
from spear_core.paper.tables import rivals, table

TABLES, CURVES, MAPS, DOUBTS = link.choices("paper")
ABOUT = {
    "β curve": "Cora from extreme skew to mild skew.",
    "γ curve": "From peers alone (γ = 0) to no shrinkage (∞).",
    "T curve": "More steps look further into the graph.",
    "α curve": "The weight of the neighbours: it helps where neighbours are alike.",
    "boundary": "Up to β = 1, at the paper's α and at a larger one.",
}
DRAWN = {
    "ablation": figures.ablation,
    "steep": figures.steep,
    "byzantine": figures.byzantine,
    "communication": figures.communication,
    "constant": lambda rows: figures.constant(),
}
READ = """from spear_core.figures import paper as draw
from spear_core.paper import measured
rows = measured.read()
"""


@st.cache_data(show_spinner=False)
def stored() -> list[measured.Measured]:
    return measured.read()


settings = frame.settings()
rows = stored()
marks = Counter(row.mark for row in rows if row.printed is not None)
dates = sorted({row.date for row in rows})
st.caption(
    f"{sum(marks.values())} printed figures of SPEAR: "
    + ", ".join(f"{mark} {count}" for mark, count in marks.most_common())
    + ". Agrees: within two standard errors of our mean over five seeds (of one where the paper "
    "prints a single run), and accuracies within 3 points. The paper prints no spread, so its own "
    f"error is not in. Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} "
    f"with {rows[0].versions}. Every cell opens the explorer at its setting."
)
view = show.switch("View", link.choices("paper"), "paper", label_visibility="collapsed")
if view == TABLES:
    if show.shown("paper_table"):
        tables = link.choices("paper_table")
        st.selectbox("Table", tables, key="paper_table", format_func=str.capitalize)
    name = st.session_state["paper_table"]
    shown = table(name, [*rows, *rivals()])
    st.caption(shown.about + ". Ours: mean ± standard deviation over seeds.")
    paper_table.draw(shown)
    for row in rows:
        if row.table == name and row.mark in (measured.DIFFERS, measured.FAR):
            st.markdown(
                f"- **{row.row}, {row.column}** {'is ' * (row.mark == measured.FAR)}{row.mark}: "
                f"{row.words} measured, {row.printed:g} printed"
                + (f"; {row.note}." if row.note else ".")
            )
elif view == CURVES:
    name = show.switch("Curve", link.choices("paper_curve"), "paper_curve")
    st.caption(f"{ABOUT[name]} The paper draws this curve without numbers; ours is measured.")
    code = f'{READ}draw.curve(rows, "{name}")'
    show.chart(figures.curve(rows, name), f"paper-{name}", f"Accuracy, {name}.", code=code)
elif view == MAPS:
    paper_maps.draw(settings)
else:
    for finding in findings.findings(rows):
        st.markdown(f"##### {finding.title}")
        st.markdown(finding.words)
        code = f"{READ}draw.{finding.key}({'' if finding.key == 'constant' else 'rows'})"
        show.chart(DRAWN[finding.key](rows), f"paper-{finding.key}", finding.words, code=code)
        runs.let_go()
    st.markdown("##### Where the paper contradicts itself")
    st.markdown("\n".join(f"- {words}" for words in findings.CONTRADICTIONS))
files = {}
if view == CURVES:
    each = [row for row in rows if row.table == st.session_state["paper_curve"]]
    files["curve, accuracy in %"] = pd.DataFrame(
        {
            "dataset": [row.row for row in each],
            "x": [row.column for row in each],
            "mean": [row.mean for row in each],
            "std": [row.std for row in each],
            "n": [len(row.seeds.split()) * row.draws for row in each],
        }
    )
show.export(files | {"measured": pd.DataFrame([asdict(row) | {"mark": row.mark} for row in rows])})
show.same_in_python(
    settings,
    "The paper beside our run",
    "from spear_core.paper import measured",
    "for row in measured.read():",
    "    print(row.table, row.row, row.column, row.printed, row.mean, row.std, row.mark)",
)
