"""A rival is added by one file and one entry of `METHODS`, and is then everywhere."""

import pytest
import torch
from streamlit.testing.v1 import AppTest

from spear_core import Settings
from spear_core.baselines import METHODS, Method, defaults, results, train
from spear_core.baselines.views import summaries
from spear_core.cli import parser
from spear_core.errors import SettingError
from spear_core.figures import compare as figures
from spear_core.paper.tables import rivals
from tests.apptest import sound
from tests.baselines.toy_rival import Slow
from tests.browser import ROOT

KARATE = Settings(dataset="karate", clients=3)
PINK = "#FF00AA"


@pytest.fixture(autouse=True)
def toy(cache, monkeypatch):
    monkeypatch.setitem(METHODS, "slow", Method("slow", "SlowAvg", PINK, Slow))


def stored_row(**changes):
    results.append(
        results.row_of(train(KARATE, defaults("slow", rounds=2, **changes))), results.own()
    )
    return results.stored(results.own())[-1]


def test_it_has_settings_and_trains():
    assert defaults("slow").pace == 0.5
    with pytest.raises(SettingError, match="pace must be at most 1"):
        defaults("slow", pace=2)
    plain = train(KARATE, defaults("fedavg", rounds=2))
    full, still = (train(KARATE, defaults("slow", rounds=2, pace=p)) for p in (1.0, 0.0))
    assert len(full.curve) == 2
    for name, p in plain.model.items():
        torch.testing.assert_close(full.model[name], p)
    assert any(not torch.equal(still.model[name], p) for name, p in plain.model.items())


def test_the_command_line_offers_it_and_its_row_comes_back(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["baseline", "--help"])
    told = capsys.readouterr().out
    assert "SlowAvg alone" in told
    assert "how far the server moves to the mean" in told
    say = ["baseline", "slow", "--dataset", "karate", "--rounds", "2", "--pace", "0.25"]
    args = parser().parse_args(say)
    args.command(args)
    assert capsys.readouterr().out.startswith("SlowAvg")
    (row,) = results.stored(results.own())
    assert row.training == defaults("slow", rounds=2, pace=0.25)


def test_figures_have_its_colour_and_the_papers_table_does_not_mind():
    (summary,) = summaries([stored_row()])
    (curve, *_) = figures.over_rounds([summary], (60.0, 1.0)).data
    (dot, *_) = figures.pareto([summary], [(0.01, 60.0, 3)]).data
    assert (curve.name, curve.line.color, dot.marker.color) == ("SlowAvg", PINK, PINK)
    first, bars, *_ = figures.accuracies([summary], (60.0, 1.0), {}).data
    assert (list(first.y), list(bars.y)) == (["SPEAR"], ["SlowAvg"])
    assert "SlowAvg" not in {measured.row for measured in rivals()}


def test_the_compare_page_runs_it():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.query_params.update({"dataset": "karate", "clients": "3"})
    page = sound(app.run().switch_page("pages/compare.py").run())
    menu = page.selectbox(key="compare_method")
    assert "SlowAvg" in menu.options
    menu.select("slow")
    page.select_slider(key="compare_rounds").set_value(5)
    sound(page.button(key="compare_go").click().run())
    assert [row.training for row in results.stored(results.own())] == [defaults("slow", rounds=5)]
    assert "SlowAvg" in set(page.dataframe[0].value["method"])


def test_without_its_entry_its_rows_are_passed_over(monkeypatch):
    stored_row()
    monkeypatch.delitem(METHODS, "slow")
    assert results.stored(results.own()) == []
