"""Pages under Streamlit's test runner: opened, moved by their state, and without a fault."""

import contextlib
import io
import json
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.browser import ROOT


def opened(page: str) -> AppTest:
    """A page of the app, with the settings the app starts with."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600).run()
    return sound(app.switch_page(f"pages/{page}.py").run())


def sound(app: AppTest) -> AppTest:
    """The page itself, once it shows neither a traceback nor an error."""
    assert not app.exception
    assert not app.error
    return app


def put(page: AppTest, **values: Any) -> AppTest:
    """The page after some of its controls were set."""
    for name, value in values.items():
        page.session_state[name] = value
    return sound(page.run())


def said(page: AppTest) -> str:
    """The text on a page."""
    return "\n".join(block.value for block in page.markdown)


def printed(page: AppTest) -> str:
    """What the lines of "The same in Python" print."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(page.code[0].value, {})
    return out.getvalue()


def live(page: AppTest) -> dict[str, Any]:
    """What a page's live maps and charts are given, by their keys; the figures read."""
    sent = {one.key: json.loads(one.proto.json) for one in page.get("bidi_component")}
    found = {key: data for key, data in sent.items() if "figure" in data}
    return {key: data | {"figure": json.loads(data["figure"])} for key, data in found.items()}


def charts(page: AppTest) -> dict[str, Any]:
    """The figures of a page's live charts by their keys; a map is no chart."""
    return {k: data["figure"] for k, data in live(page).items() if data["kind"] == "live-chart"}
