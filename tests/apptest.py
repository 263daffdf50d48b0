"""Pages under Streamlit's test runner: moved by their state, and without a fault."""

from typing import Any

from streamlit.testing.v1 import AppTest


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
