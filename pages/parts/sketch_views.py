"""What sketches give away, on the pages Privacy and Beyond: the stored table, the present run."""

import pandas as pd
import streamlit as st

from pages.shared import runs, show
from spear_core import Result, Settings
from spear_core.figures.beyond import spreads
from spear_core.measures.spread import with_spread
from spear_core.settings import equation
from spear_core.studies import sketch_exposure as stored
from spear_core.studies.exposure import work
from spear_core.studies.sketch_attack import Revealed, revealed

MOST_WORK = 3_000_000_000  # multiplications: seconds
SHOWN = ("means alone", "rank 8 capped", "rank 8", "rank 32", "every row")
NAMED = """from spear_core.figures.beyond import spreads
from spear_core.studies.sketch_exposure import summary
"""
MADE = "`python -m spear_core.studies.sketch_exposure`"


@st.cache_data(max_entries=64, show_spinner="What sketches reveal …")
def revealed_by(settings: Settings) -> Revealed:
    return revealed(runs.result_of(settings))


def section(result: Result) -> pd.DataFrame:
    """The part of the page Privacy: the present run if it sends one, the stored runs always."""
    st.subheader("What a sketch gives away")
    with st.container(key="lines4_sketch"):
        if result.settings.head == "ridge":
            _now(result)
        else:
            st.markdown("This run sends none. LANCE does; below are stored runs of it.")
    return stored_chart("privacy_sketches")


def stored_chart(key: str) -> pd.DataFrame:
    """Rows named and AUC by rank on the eight datasets, from the stored runs."""
    said = stored.words()
    st.markdown(said)
    named = stored.summary()
    found = {name: named[name] for name in SHOWN}
    code = f"{NAMED}named = summary()\nfound = {{name: named[name] for name in {SHOWN}}}\n"
    code += 'spreads(found, "training nodes named")'
    figure, told = spreads(found, "training nodes named"), said.replace("*", "")
    show.chart(figure, key, told, code=code)
    return _small()


def _percent(mean: float, std: float) -> str:
    return with_spread(100 * mean, 100 * std)


def _small() -> pd.DataFrame:
    """The stored AUCs as a small table with its caption."""
    area = stored.shares(lambda row: row.both)
    table = pd.DataFrame(
        {d: {name: _percent(*area[name][d]) for name in SHOWN} for d in stored.DATASETS}
    )
    st.table(table)
    st.caption(
        "AUC of membership × 100, by a node's distance from the mean plus the span of the sketch: "
        "mean ± spread over seeds (one for Computers and Coauthor-CS); 50 is a coin. LANCE, "
        f"K = 10, β = 0.05, no noise. The energy is one number a client. Stored by {MADE}."
    )
    return table.reset_index(names="rank")


def _now(result: Result) -> None:
    """The attack on the run of this page."""
    sent, s = result.sent.residuals, result.settings
    rank = len(sent.rows) if sent is not None else 0
    if work(result) * (1 + rank / max(1, result.held.clients)) > MOST_WORK:
        st.info("The attack on this run takes too long for a click; the stored table has it.")
        return
    found, cap = revealed_by(s), "capped" if s.sketch_cap else "not capped"
    st.markdown(
        f"**{result.graph.name} now, without noise, {equation('sketch', s.sketch)}, {cap}:** "
        f"{found.found} of {found.rows} training nodes are named rightly ({found.named} names "
        f"given), {found.exact} smoothed rows are known to the letter, {found.whole} lie at "
        f"clients that send all residuals up to a rotation. Membership AUC {found.means:.2f} by "
        f"means alone, {found.both:.2f} with the sketch; who knows the edges too reaches "
        f"{found.both_edges:.2f}."
    )
