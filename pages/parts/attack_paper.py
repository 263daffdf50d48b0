"""The paper's Byzantine table beside ours, and every defence as it was measured beforehand."""

from pathlib import Path

import pandas as pd
import streamlit as st

import spear_core
from spear_core import Settings
from spear_core.paper import measured
from spear_core.paper.byzantine import beside_the_paper

STORED = Path(spear_core.__file__).parent / "studies" / "attacks.csv"


def draw(settings: Settings) -> dict[str, pd.DataFrame]:
    """Both tables on the page; gives them back for the export."""
    beside = pd.DataFrame(beside_the_paper(measured.read()))
    spear = beside[beside["variant"] == "SPEAR"]
    others = beside[beside["variant"] != "SPEAR"]
    st.markdown(
        "#### The paper's Byzantine table beside ours\n"
        "Three random clients of ten call every class the next one. Of the row printed for SPEAR, "
        f"which the paper calls inherently robust, {missed(spear)} are **not reproduced**; of the "
        f"rows with and without semantic selection {missed(others)}. By its description the row "
        "without semantic selection is SPEAR itself, yet another figure is printed there."
    )
    tables = {"paper": pd.concat([spear, others])}
    st.dataframe(tables["paper"], hide_index=True, height=35 * (len(beside) + 1) + 3)
    st.caption(
        "Measured: mean ± standard deviation over 5 seeds with 4 draws of the liars each. Not "
        "reproduced: further from the print than two standard errors of the difference between a "
        "mean of five and ours; who lies matters so much that smaller differences say nothing."
    )
    st.markdown("#### Every defence, measured beforehand")
    stored = pd.read_csv(STORED) if STORED.exists() else pd.DataFrame({"dataset": []})
    some = stored[stored["dataset"] == settings.dataset]
    if len(some):
        st.caption(
            f"Three of ten clients of {settings.dataset} call every class the next one: accuracy "
            f"in percent, mean ± standard deviation over the seeds {some['seeds'].iloc[0]}."
        )
        value = (100 * some["accuracy"]).map("{:.1f}".format)
        st.dataframe(by_case(some, value + " ± " + (100 * some["std"]).map("{:.1f}".format)))
        st.caption("Share of the gap between undefended and oracle that is recovered.")
        st.dataframe(by_case(some, (100 * some["recovered"]).map("{:.0f} %".format)))
        st.caption("Points lost when nobody lies.")
        st.dataframe(by_case(some, (100 * some["clean_cost"]).map("{:.1f}".format)))
        st.caption(f"Made {some['date'].max()} with {some['versions'].iloc[0]}.")
        tables["stored"] = stored
    elif len(stored):
        there = ", ".join(stored["dataset"].unique())
        st.info(f"The stored table covers {there}: choose one of them in the sidebar.")
    else:
        st.info("There is no stored table yet: spear_core/studies/attacks.csv has not been made.")
    return tables


def missed(cells: pd.DataFrame) -> str:
    """How many cells of the paper are not reproduced."""
    return f"{(cells['verdict'] == 'not reproduced').sum()} of {len(cells)} cells"


def by_case(rows: pd.DataFrame, value: pd.Series) -> pd.DataFrame:
    """Defences as rows; skew and liars as columns."""
    case = "β " + rows["beta"].map("{:g}".format) + ", " + rows["attackers"]
    wide = rows.assign(case=case, value=value)
    return wide.pivot_table("value", "defence", "case", aggfunc="first", sort=False)
