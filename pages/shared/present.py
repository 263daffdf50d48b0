"""Present: controls ticked away, large type, the short link and its QR code, drawn here."""

import segno
import streamlit as st

from pages.shared import link
from pages.shared.pages import page_named
from spear_core import Settings
from spear_core.settings import FIELDS, titled

LARGE = """<style>html { font-size: 20px; }
@media (min-width: 769px) {
  section[data-testid="stSidebar"]:not([data-collapsed="true"]) { width: 19rem !important; }
}
</style>"""
SIDEBAR = (
    *("dataset", "estimator", "beta", "clients", "alpha", "steps", "gamma", "lab"),
    *("scenario", "seed"),
    *("partition", "peers", "reliability", "shrinkage", "count_weights", "labels_per_class"),
    "split",
)
OWN = {  # settings that have their controls on a page
    "noise": (
        *("edge_noise", "feature_noise", "label_noise", "noise_test"),
        *("noise_when", "feature_rule", "draw"),
    ),
    "attack": (
        *("attackers", "attacker_count", "chosen", "flip", "forge", "inflate", "defence", "draw"),
    ),
    "privacy": ("epsilon", "delta", "mechanism"),
}
MOST_CODED = 1000  # characters; a code holds 2,953 at most, as dots too small for a projector
NAMES = {  # of what is no setting, as the pages call it
    "estimator": "Estimator",
    "lab": "What happens to it",
    "scenario": "Scenario",
    "show": "Prototypes",
    "colour": "Colour by",
    "digit": "Class of the pictures",
    "learn": "Step",
    "learn_n": "Nodes behind the mean",
    "learn_node": "The node asked about",
    "split_count": "Count",
    "smooth_curve": "Curve",
    "centroid": "True centroid of",
    "sigma2": "σ²",
    "tau2": "τ²",
    "samples": "n",
    "sens_x": "Knob",
    "sens_y": "Second knob",
    "paper_table": "Table",
    "paper_curve": "Curve",
    "compare_method": "Method",
    "compare_recipe": "Trained with",
    "compare_rounds": "Rounds",
    "beyond_part": "Split",
}  # the others switch between the views of a page


def draw(settings: Settings | None) -> None:
    """The button and its panel."""
    state = st.session_state
    large, hidden = state.get(link.PRESENT) == "1", state.get(link.HIDE, "")
    if large:
        st.html(LARGE)
    with st.popover("Present", icon=":material/co_present:"):
        state["present_hide"] = [name for name in hidden.split(",") if name]
        state["present_large"] = large
        page = page_named(state["_page"])
        own = (*OWN.get(page.name, ()), *page.views)
        offered = list(dict.fromkeys((*SIDEBAR, *own, *state["present_hide"])))
        st.pills(
            "Tick away what the class should not see",
            offered,
            selection_mode="multi",
            key="present_hide",
            format_func=_called,
            on_change=_take,
        )
        st.toggle("Large type", key="present_large", on_change=_take)
        if settings:
            address = link.address(settings)
            st.code(address, language=None, wrap_lines=True)
            if len(address) <= MOST_CODED:
                st.html(f'<img class="qr" src="{qr(address)}" alt="QR code of this link">')
            else:
                st.caption("This link is too long for a QR code that a phone could read.")


def way_out() -> None:
    """The way back while something is hidden or large."""
    if st.session_state.get(link.PRESENT) == "1" or st.session_state.get(link.HIDE, ""):
        st.button("Show everything again", on_click=_leave, width="stretch", key="present_leave")


def qr(address: str) -> str:
    """The code as a picture within the page; nothing is asked for elsewhere."""
    return segno.make(address, micro=False).svg_data_uri(scale=4, border=4, light="#fff")


def _called(name: str) -> str:
    return NAMES.get(name) or (titled(name) if name in FIELDS else "Views of the page")


def _take() -> None:
    state = st.session_state
    state[link.HIDE] = ",".join(state["present_hide"])
    state[link.PRESENT] = "1" if state["present_large"] else ""


def _leave() -> None:
    st.session_state[link.HIDE] = st.session_state[link.PRESENT] = ""
