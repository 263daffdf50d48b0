"""The Attack page: every view, every lie, and a click on a client in a real browser."""

from dataclasses import replace
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import attack_paper
from pages.shared import link
from spear_core import Settings, run
from spear_core.figures import attack as figures
from spear_core.measures.spread import with_spread
from spear_core.studies.damage import compare, damage, held_by, honest, table
from spear_core.studies.defence_table import stored
from tests.apptest import charts, opened, printed, put, sound
from tests.browser import (
    FLAGS,
    IDLE,
    ROOT,
    eventually,
    need_browser,
    running_app,
    wait_for_query,
)

VIEWS = link.choices("attack_view")
LYING = {"attackers": "random", "attacker_count": 3}


@pytest.fixture
def page():
    return opened("attack")


def numbers(page):
    return {metric.label: metric.value for metric in page.metric}


def said(page):
    return "\n".join(block.value for block in page.markdown)


def percent(settings):
    return f"{100 * run(settings).metrics.accuracy:.1f} %"


def test_nobody_lies_at_first_and_three_are_one_click_away(page):
    assert numbers(page)["Nobody lies"] == numbers(page)["Attacked"] == percent(Settings())
    page.segmented_control(key="attackers").set_value("most-training-nodes").run()
    sound(page)
    s = Settings(attackers="most-training-nodes", attacker_count=3)
    assert numbers(page)["Attacked"] == percent(s)
    assert numbers(page)["Oracle"] == percent(replace(s, defence="oracle"))
    assert page.multiselect(key="attack_clients").value == list(run(s).attackers)


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws_and_its_lines_run(page, view):
    put(page, attack_view=view, **LYING)
    out = printed(page)
    assert str(run(Settings(**LYING)).attackers) in out
    last = out.strip().splitlines()[-1]
    if view == "Damage":
        assert len(charts(page)) == 2
        assert last.count("Draw(") == 60
    if view == "Defences":
        assert last.startswith("Nobody lies: ")
        assert last in said(page)
    if view == "Paper":
        assert "6 of 6 cells are **not reproduced**" in said(page)
        assert "'not reproduced'" in out


@pytest.mark.parametrize("dataset", ["digits", "Cora"])
def test_every_stored_row_is_on_the_page(dataset):
    """One cell for every row of the dataset, under what the row was measured with."""
    rows = [row for row in stored() if row.dataset == dataset]
    table = attack_paper.by_case(rows, lambda row: repr(row))
    assert sorted(table.stack()) == sorted(repr(row) for row in rows)
    for row in rows:
        told = [c for c in table if repr(row) == table[c][attack_paper.named(row.defence)]]
        assert len(told) == 1
        assert f"β {row.beta:g}, {row.attackers}" in told[0]
        assert ("counts × 100" in told[0]) == (row.inflate == 100)


def test_the_stored_table_is_drawn_whole(page):
    put(page, attack_view="Paper")
    rows = [row for row in stored() if row.dataset == "digits"]
    accuracies, recovered, costs = (frame.value for frame in page.dataframe[-3:])
    cells = [with_spread(100 * row.accuracy, 100 * row.std) for row in rows]
    assert sorted(accuracies.stack()) == sorted(cells)
    assert recovered.size == costs.size == len(rows)


def test_consensus_says_what_it_costs_where_it_is_offered(page):
    put(page, **LYING, defence="consensus")
    figures = ("13.5", "9.3", "1,300", "5.1")
    offered = page.selectbox(key="defence")
    assert all(figure in offered.help for figure in figures)
    rows = {(r.dataset, r.attackers, r.beta, r.inflate, r.defence): r for r in stored()}
    for dataset in ("Cora", "CiteSeer"):
        row = rows[dataset, "random", 1.0, 1.0, "consensus"]
        assert f"{100 * row.recovered:.0f} % on {dataset}" in attack_paper.CONSENSUS


def test_naming_clients_makes_them_the_chosen_ones(page):
    put(page, **LYING)
    page.multiselect(key="attack_clients").set_value([7, 2]).run()
    sound(page)
    assert page.session_state["attackers"] == "chosen"
    assert page.session_state["chosen"] == "2,7"
    assert numbers(page)["Attacked"] == percent(Settings(attackers="chosen", chosen="2,7"))


def test_a_defence_stands_beside_the_attack(page):
    put(page, defence="cap", **LYING)
    assert numbers(page)["Defended: cap on shares"] == percent(Settings(defence="cap", **LYING))
    assert "five seeds" in "\n".join(c.value for c in page.caption)


def test_what_cannot_be_true_is_said(page):
    put(page, forge="nan", attack_view="Pictures", **LYING)
    dropped = len(run(Settings(forge="nan", **LYING)).rejected)
    assert f"The server drops {dropped} uploads: they cannot be true." in said(page)
    assert "its prototype is not finite" in said(page)


def test_a_teacher_can_hide_what_students_should_not_turn(page):
    put(page, hide="defence,flip,attackers", **LYING)
    shown = {box.key for box in page.main.selectbox}
    assert "forge" in shown
    assert not {"defence", "flip"} & shown


@pytest.mark.slow
def test_every_lie_on_a_tiny_graph(page):
    page.sidebar.selectbox(key="dataset").select("karate").run()
    sound(page)
    for change in (
        {"attackers": "chosen", "chosen": "0,1,2,9", "forge": "nan"},  # nothing is left
        {"forge": "scaled", "forge_scale": 0.5},
        {"forge": "random", "flip": "random", "collude": True},
        {"forge": "copy", "flip": "pair"},
        {"inflate": 0.0, "defence": "cap"},
    ):
        for view in VIEWS:
            put(page, attack_view=view, **change)


def test_a_link_may_name_a_class_that_is_not_there():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=600)
    app.query_params |= {"dataset": "karate", "clients": "3", "flip": "pair", "flip_to": "7"}
    sound(app.switch_page("pages/attack.py").run())
    assert app.selectbox(key="flip_to").value == 7


def test_what_a_lie_does_not_read_is_dimmed_and_stays(page):
    def fields():
        shown = {f.key: f.disabled for f in (*page.main.selectbox, *page.main.number_input)}
        return {k: shown[k] for k in ("flip_from", "flip_to", "forge_scale")}

    assert set(fields().values()) == {True}
    put(page, flip="pair", forge="scaled")
    assert set(fields().values()) == {False}


# the engine's part of it -------------------------------------------------------------------------
def test_a_comparison_by_hand():
    """Accuracies by name instead of runs: undefended 40, oracle 60, one defence half the way."""
    found = {"none": 0.4, "cap": 0.5, "oracle": 0.6}
    clean = {"none": 0.7, "cap": 0.66, "oracle": 0.7}
    s = Settings(attacker_count=3)

    def accuracy(one):
        return (found if one.attacker_count else clean)[one.defence] + 0.01 * (one.seed == 1)

    none, cap, oracle = compare(s, ["cap"], seeds=[0, 1], accuracy=accuracy)
    assert (none.recovered, cap.recovered, oracle.recovered) == pytest.approx((0, 50, 100))
    assert (cap.accuracy, cap.std, cap.clean_cost) == pytest.approx((50.5, 0.5, 4.0))
    assert [row["defence"] for row in table([none, cap, oracle])] == ["none", "cap", "oracle"]


def test_without_a_gap_there_is_no_share_of_it():
    rows = compare(Settings(attacker_count=1), ["cap"], [0], accuracy=lambda s: 0.5)
    assert [row.recovered for row in rows] == [None] * 3


def test_damage_names_who_lied_and_what_they_hold():
    s = Settings(dataset="karate", clients=3)
    for one in damage(s, counts=(1, 3, 5), draws=2):
        assert len(one.liars) in (1, 3)  # there are no five clients
        assert one.share == pytest.approx(held_by(one.liars, s))
    assert held_by((0, 1, 2), s) == 100
    assert honest(Settings(attackers="chosen", chosen="1", defence="cap")) == Settings()


def test_every_cell_of_the_heat_map_can_be_clicked():
    result = run(Settings(**LYING))
    figure = figures.liars(result)
    cells = figure.data[1]
    assert len(cells.x) == 10 * 10
    assert [int(row[0]) for row in cells.customdata] == [int(y) for y in cells.y]
    assert len(figure.layout.shapes) == 3  # a frame round every liar


def test_the_heat_map_shows_both_sizes_of_a_client():
    result = run(Settings(**LYING))
    nodes, trained, words = figures.liars(result).data[2:]
    assert list(nodes.x) == result.partition.sizes.tolist()
    assert list(trained.x) == result.partition.train_counts.sum(1).tolist()
    assert words.text[0] == f" {trained.x[0]} of {nodes.x[0]}"
    assert [row[0] for row in nodes.customdata] == list(range(10))  # a bar is a row to click
    many = figures.liars(run(Settings(clients=40)))
    assert len(many.data) == 4  # no room for words


def test_forged_pictures_show_what_is_held_and_what_is_sent():
    result = run(Settings(forge="negated", **LYING))
    figure = figures.sent_pictures(result)
    held, sent = figure.data[: len(figure.data) // 2], figure.data[len(figure.data) // 2 :]
    for one, other in zip(held, sent, strict=True):
        assert (one.z == -other.z).all()


# a click -----------------------------------------------------------------------------------------
@pytest.mark.browser
def test_a_click_turns_a_client_and_a_second_one_turns_it_back():
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with running_app() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1280, "height": 1400})
        tab.goto(f"{address}/attack")

        def click(chosen):
            tab.get_by_role("button", name="Copy link").wait_for(timeout=90_000)
            tab.wait_for_timeout(1500)  # a chart is put in anew after a click
            tab.wait_for_selector(IDLE, timeout=90_000)
            box = tab.locator(".js-plotly-plot .nsewdrag").first.bounding_box(timeout=90_000)
            at = box["x"] + 0.55 * box["width"], box["y"] + 0.35 * box["height"]  # row 3 of 10
            tab.mouse.move(at[0] - 4, at[1])
            tab.mouse.click(*at)
            wait_for_query(tab, "chosen", chosen or None, timeout=20_000)
            wait_for_query(tab, "attackers", "chosen", timeout=20_000)

        for chosen in ("3", ""):
            eventually(tab, partial(click, chosen))
        browser.close()
