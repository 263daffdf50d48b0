"""The Compare page under Streamlit's test runner, and what its tests read from it."""

from streamlit.testing.v1 import AppTest

from spear_core import Settings
from spear_core.baselines import defaults
from spear_core.baselines.loop import train
from spear_core.baselines.results import append, own, row_of
from tests.apptest import sound
from tests.browser import ROOT

KARATE = Settings(dataset="karate", clients=3)


def opened(**query):
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    return sound(app.switch_page("pages/compare.py").run())


def karate(**query):
    return opened(dataset="karate", clients="3", **query)


def said(page):
    return "\n".join(block.value for block in (*page.markdown, *page.caption, *page.info))


def store_two(rounds=3):
    """FedAvg and FedProx on karate, as if somebody had run them before."""
    for method in ("fedavg", "fedprox"):
        append(row_of(train(KARATE, defaults(method, rounds=rounds))), own())
