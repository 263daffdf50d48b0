"""The message on a page: one picture, kept and updated in place, that plays once and on a press."""

from pathlib import Path

from streamlit.components import v2

from pages.shared import drawn
from spear_core import Result
from spear_core.figures.message import message

HERE = Path(__file__)

_component = v2.component(
    "spear_message",
    css=HERE.with_suffix(".css").read_text(encoding="utf-8"),
    js=HERE.with_suffix(".js").read_text(encoding="utf-8"),
)


def draw(result: Result) -> None:
    """The picture of this run, with a button that plays it and one that saves it."""
    code = "from spear_core.figures.message import message\nmessage(r)"
    drawn.add(code, "What is sent, and what becomes of it.", at=1)  # below the map or beside it
    data = {"svg": str(message(result)), "file": f"spear-message-{result.graph.name}.svg"}
    _component(key="message", data=data)
