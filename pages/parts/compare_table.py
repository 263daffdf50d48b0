"""The table of Compare: SPEAR, every stored run at this K, and the methods that were not run."""

import pandas as pd
import streamlit as st

from pages.parts.compare_live import spear_once, trained_as
from pages.shared import runs
from spear_core import Result
from spear_core.baselines import METHODS
from spear_core.baselines.views import Summary
from spear_core.figures import human_bytes
from spear_core.figures.compare import Spread

COLUMNS: dict[str, tuple[int, str | None]] = {  # name -> width, what it needs to be understood
    "method": (145, None),
    "trained with": (120, None),
    "accuracy, %": (84, "On the test nodes after the last round, mean over the seeds."),
    "±": (45, "Standard deviation over the seeds."),
    "printed, %": (72, "What the paper prints."),
    "seconds": (65, "Processor time of all clients and the server, one after another."),
    "sent": (68, "Both ways, all clients and rounds, counted from what is really passed."),
    "rounds": (55, None),
    "seeds": (145, None),
    "best round, %": (93, "Test accuracy at the round that is best on the validation nodes."),
    "top class, %": (82, "Share of the test nodes that get the class predicted most."),
    "note": (125, None),
}
FORMATS = {"seconds": "%.3g", "printed, %": "%.2f", "top class, %": "%.0f"}
LEFT_OUT = ("seeds", "note")  # the exported file has them; notes stand below the table
NUMBERS = ("accuracy, %", "±", "printed, %", "seconds", "best round, %", "top class, %")


def table(
    result: Result, spear: Spread, found: list[Summary], printed: dict[str, float], ours: str
) -> pd.DataFrame:
    """One line a method and way of training; what was not run says so."""
    metrics = result.metrics
    first = {
        "method": ours,
        "accuracy, %": spear[0],
        "±": None if runs.heavy(result) else spear[1],
        "seconds": spear_once(result.settings)[0],
        "sent": human_bytes(metrics.bytes_up_total + metrics.bytes_down_total),
        "rounds": 1,
        "seeds": ", ".join(str(seed) for seed in runs.seeds_for(result)),
        "trained with": "no training",
        "note": "timed now, once" if runs.heavy(result) else "timed now, median of three",
    }
    had = {s.method for s in found}
    rest = [m.title for m in METHODS.values() if m.name not in had]
    lines = [first, *map(_measured, found)]
    lines += [{"method": name, "trained with": "not measured"} for name in rest]
    shown = pd.DataFrame(lines, columns=list(COLUMNS))
    shown["printed, %"] = shown["method"].map(printed).astype(float)
    return shown


def draw(shown: pd.DataFrame) -> None:
    """The table with its words and formats."""
    as_number = st.column_config.NumberColumn
    st.dataframe(
        shown,
        hide_index=True,
        height="content",
        column_order=[name for name in COLUMNS if name not in LEFT_OUT],
        placeholder="–",
        column_config={
            name: as_number(width=width, help=words, format=FORMATS.get(name, "%.1f"))
            if name in NUMBERS
            else st.column_config.Column(width=width, help=words)
            for name, (width, words) in COLUMNS.items()
        },
    )
    noted = shown[shown["note"].fillna("") != ""]
    said = (f"{row['method']} {row['trained with']}: {row['note']}" for _, row in noted.iterrows())
    with st.container(key="lines2_compare_notes"):
        st.caption("; ".join(said))


def _measured(s: Summary) -> dict[str, object]:
    method = METHODS[s.method]
    always = ", ".join(dict.fromkeys(f"class {c}" if c.isdigit() else c for c in s.constant))
    constant = f"always {always} ({len(s.constant)} of {len(s.seeds)} seeds)" if always else ""
    return {
        "method": method.title,
        "accuracy, %": 100 * s.accuracy,
        "±": 100 * s.spread if len(s.seeds) > 1 else None,
        "seconds": s.seconds,
        "sent": human_bytes(s.bytes_up + s.bytes_down),
        "rounds": s.rounds,
        "seeds": ", ".join(str(seed) for seed in s.seeds),
        "trained with": trained_as(s.method, s.recipe),
        "best round, %": 100 * s.best_accuracy,
        "top class, %": 100 * s.largest,
        "note": "; ".join(filter(None, [constant, method.recon and f"ours: {method.recon}"])),
    }
