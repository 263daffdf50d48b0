"""The main flows, driven in a real browser."""

from urllib.parse import parse_qs, urlparse

import pytest

from tests.browser import FLAGS, IDLE, eventually, need_browser, running_app

pytestmark = pytest.mark.browser

OUTSIDE = """() => {
    const wrong = [];
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const box = plot.getBoundingClientRect();
        const name = plot.closest('[class*=st-key-]')?.className ?? 'map';
        for (const text of plot.querySelectorAll('text')) {
            const at = text.getBoundingClientRect();
            if (at.width && (at.left < box.left - 1 || at.right > box.right + 1
                || at.top < box.top - 1 || at.bottom > box.bottom + 1))
                wrong.push(name + ': ' + text.textContent);
        }
        for (const bar of plot.querySelectorAll('.legend .scrollbar'))
            if (bar.getBoundingClientRect().width) wrong.push(name + ': its legend scrolls');
    }
    for (const table of document.querySelectorAll('[data-testid=stTable] table'))
        if (table.scrollWidth > table.parentElement.clientWidth + 1)
            wrong.push('a table is too wide');
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is too wide');
    return wrong;
}"""
TRACES = "document.querySelector('.live-map')?._fullData"  # nothing while the page is redrawn
PINNED = f"({TRACES} ?? []).filter(t => t.name === 'pinned')"


@pytest.fixture(scope="module")
def address():
    need_browser()
    with running_app() as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    path = need_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(address, browser):
    """Opens the app at a path; every tab notes the requests that leave this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})

    def visit(path=""):
        tab = context.new_page()
        tab.outside = []
        own = (address, address.replace("http", "ws"), "data:", "blob:")
        tab.on("request", lambda r: None if r.url.startswith(own) else tab.outside.append(r.url))
        tab.goto(f"{address}/{path}")
        settled(tab, "[data-testid=stMetric]" if path[:1] in ("", "?") else "h1, h2, h3, p")
        return tab

    yield visit
    context.close()


def settled(tab, sign="[data-testid=stMetric]"):
    tab.wait_for_selector(IDLE, timeout=90_000)
    tab.wait_for_selector(sign, timeout=90_000)
    tab.get_by_role("button", name="Copy link").wait_for(timeout=90_000)  # the last to be drawn
    tab.wait_for_timeout(400)
    tab.wait_for_selector(IDLE, timeout=90_000)


def metric(tab, label="Accuracy on test nodes"):
    lines = tab.locator("[data-testid=stMetric]", has_text=label).inner_text().split("\n")
    return next(line for line in lines if line.endswith("%"))


def query(tab):
    return {k: v[0] for k, v in parse_qs(urlparse(tab.url).query).items()}


def press(tab, name, key, times=1):
    """Move a slider and wait until the link has followed."""
    before = query(tab)
    slider = tab.get_by_role("slider", name=name)
    for _ in range(times):
        slider.press(key)
    eventually(tab, lambda: differs(query(tab), before))
    settled(tab)


def differs(now, before):
    assert now != before


def test_first_screen_shows_a_real_result(open_page):
    tab = open_page()

    def numbers():
        assert metric(tab) == "91.00 %"
        assert metric(tab, "Mean of five seeds").startswith("91.02 ± 0.33")

    eventually(tab, numbers)
    for part in (".live-map", ".st-key-weights", ".st-key-strip"):  # without any click or scroll
        tab.locator(f"{part} .main-svg").first.wait_for(timeout=90_000)
        box = tab.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 900, part
        assert box["x"] + box["width"] <= 1280, part
    assert tab.outside == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("page", ["", "split", "smooth", "shrink"])
def test_nothing_is_cut_off(open_page, page, width):
    """No chart writes outside itself, no legend has to be scrolled, nothing is too wide."""
    tab = open_page(f"{page}?pin=gamma:5&view=Confusion&shrink=What+carries+the+gain")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.wait_for_selector(".js-plotly-plot .main-svg", timeout=90_000)

    def inside():
        assert tab.evaluate(OUTSIDE) == []

    tab.wait_for_timeout(2500)  # charts are laid out anew after the width has changed
    eventually(tab, inside, 20)


@pytest.mark.parametrize(
    ("name", "parameter", "key"),
    [
        ("α, weight of the neighbours", "alpha", "End"),
        ("T, smoothing steps", "steps", "ArrowRight"),
        ("β, label skew", "beta", "End"),
        ("K, clients", "clients", "ArrowRight"),
        ("γ, trust in own counts", "gamma", "Home"),
    ],
)
def test_every_slider_reaches_the_link(open_page, name, parameter, key):
    tab = open_page()
    before = query(tab)
    press(tab, name, key)

    def only_this():
        after = query(tab)
        assert {k for k in after if after[k] != before.get(k)} == {parameter}

    eventually(tab, only_this)


def test_the_other_controls_reach_the_link(open_page):
    tab = open_page()
    tab.get_by_role("spinbutton", name="Seed").fill("7")
    tab.get_by_role("spinbutton", name="Seed").press("Enter")
    wait_for_query(tab, "seed", "7")
    tab.get_by_role("button", name="Variants").click()
    tab.get_by_text("Weigh clients by their counts").click()
    wait_for_query(tab, "count_weights", "false")
    tab.keyboard.press("Escape")
    tab.get_by_role("radio", name="Confusion").click()
    wait_for_query(tab, "view", "Confusion")
    tab.get_by_role("radio", name="right or wrong").click()
    wait_for_query(tab, "colour", "right or wrong")
    tab.get_by_role("combobox", name="Scenario").click()
    tab.get_by_role("option", name="Heterophilous").click()
    wait_for_query(tab, "homophily", "0.05")
    settled(tab)
    assert query(tab)["dataset"] == "synthetic"
    assert query(tab)["seed"] == "42"  # a scenario starts from the defaults
    tab.get_by_role("button", name="Paper defaults").click()
    wait_for_query(tab, "alpha", "0.15")


def wait_for_query(tab, name, value, timeout=60_000):
    """Until the address bar says so."""
    tab.wait_for_function(
        "([name, value]) => new URLSearchParams(location.search).get(name) === value",
        arg=[name, value],
        timeout=timeout,
    )


def test_the_link_reopens_the_view(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5&gamma=inf&view=Confusion&pick=0,0")
    again = open_page("?" + urlparse(tab.url).query)

    def same():
        assert metric(again) == metric(tab)
        assert query(again) == query(tab)
        assert query(again)["gamma"] == "inf"
        assert again.get_by_text("predicted class").count()

    eventually(again, same)


def test_the_back_button_returns_to_the_last_setting(open_page):
    tab = open_page()
    press(tab, "α, weight of the neighbours", "End")
    eventually(tab, lambda: differs(metric(tab), "91.00 %"))
    tab.go_back()

    def returned():
        assert query(tab)["alpha"] == "0.15"
        assert metric(tab) == "91.00 %"

    eventually(tab, returned)


def test_a_bad_link_still_opens(open_page):
    tab = open_page("?beta=-3&alpha=0.3&nonsense=1")

    def told():
        assert tab.get_by_text("beta=-3 in the link was left out").count() == 1
        assert tab.get_by_text("nonsense=1 in the link was left out").count() == 1
        assert query(tab)["alpha"] == "0.3"
        assert query(tab)["beta"] == "0.05"

    eventually(tab, told)


def test_a_pinned_setting_is_compared(open_page):
    tab = open_page()
    tab.get_by_role("button", name="Pin").click()
    tab.get_by_role("button", name="Unpin").wait_for(timeout=30_000)
    press(tab, "γ, trust in own counts", "Home")
    wait_for_query(tab, "pin", "default")
    tab.get_by_text("Pinned: γ = 0.5 (now 0).").wait_for(timeout=30_000)
    tab.locator(".st-key-strip .legend", has_text="pinned").wait_for(timeout=30_000)
    tab.locator(".st-key-weights", has_text="now above, pinned below").wait_for(timeout=30_000)
    tab.wait_for_function(f"() => {PINNED}.length > 1", timeout=30_000)
    stars = tab.evaluate(f"() => {PINNED}.find(t => t.marker?.symbol === 'star-open-dot').x.length")
    assert stars == 10
    tab.wait_for_selector(".live-map[aria-label*=pinned]", timeout=30_000)
    tab.get_by_role("button", name="Unpin").click()
    tab.wait_for_function(f"() => {TRACES} && {PINNED}.length === 0", timeout=30_000)
    wait_for_query(tab, "pin", None)


def test_a_pin_of_another_dataset_is_told(open_page):
    tab = open_page("?pin=default&dataset=karate&clients=3&view=Confusion")
    tab.get_by_text("That is another graph").wait_for(timeout=60_000)
    assert tab.evaluate(f"() => {PINNED}.length") == 0
    assert tab.locator("[data-testid=stAlert]").count() == 0


def test_hidden_controls_are_not_drawn(open_page):
    tab = open_page("?hide=beta,gamma,view&view=Confusion")
    tab.get_by_role("slider", name="α, weight of the neighbours").wait_for(timeout=60_000)
    tab.get_by_text("predicted class").first.wait_for(timeout=60_000)
    wait_for_query(tab, "hide", "beta,gamma,view")
    assert tab.get_by_role("slider", name="β, label skew").count() == 0
    assert tab.get_by_role("radio", name="Silhouette").count() == 0


def test_two_tabs_do_not_disturb_each_other(open_page):
    one, two = open_page(), open_page("?dataset=karate&clients=3")
    press(one, "T, smoothing steps", "ArrowRight")
    wait_for_query(one, "steps", "3")
    assert query(two)["steps"] == "2"
    assert query(two)["dataset"] == "karate"


def test_pages_share_the_controls_and_the_link(open_page):
    tab = open_page("?dataset=karate&clients=3&alpha=0.5")
    for title, words in (("Split", "cut"), ("Smooth", "Follow one node"), ("Shrink", "λ")):
        tab.get_by_role("link", name=title).first.click()
        tab.wait_for_url(f"**/{title.lower()}?**", timeout=60_000)
        wait_for_query(tab, "dataset", "karate")  # the page's own address starts empty
        wait_for_query(tab, "alpha", "0.5")
        tab.locator("[data-testid=stMain]", has_text=words).wait_for(timeout=60_000)
        tab.wait_for_selector(IDLE, timeout=90_000)
        assert tab.locator("[data-testid=stException]").count() == 0


def test_a_link_straight_to_a_page_of_a_cold_server(browser):
    """Streamlit opens a file of pages/ by itself until the frame has run once."""
    need_browser()
    with running_app() as url:
        tab = browser.new_page()
        tab.goto(f"{url}/smooth?dataset=karate&clients=3&node=5")
        tab.wait_for_selector(IDLE, timeout=120_000)
        tab.get_by_text("Follow one node").first.wait_for(timeout=60_000)
        tab.get_by_role("slider", name="α, weight of the neighbours").wait_for(timeout=60_000)
        eventually(tab, lambda: node_is(tab, "5"))
        assert tab.locator("[data-testid=stException]").count() == 0
        tab.close()


def node_is(tab, number):
    assert tab.get_by_role("spinbutton", name="Node").input_value() == number


def test_picking_a_cell_writes_its_formula(open_page):
    tab = open_page()

    def click():
        plot = tab.locator(".st-key-weights")
        plot.scroll_into_view_if_needed()
        tab.wait_for_timeout(1500)
        box = plot.locator(".nsewdrag").first.bounding_box()
        # client 8 (of 10 rows), class 2 (of 10 columns): n = 3
        tab.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.85)
        tab.get_by_text("λ = 1/(1 + 0.5·3) = 0.40").wait_for(timeout=15_000)

    eventually(tab, click)
    wait_for_query(tab, "pick", "8,2")


def test_asking_for_a_node(open_page):
    tab = open_page("smooth")
    before = tab.get_by_role("spinbutton", name="Node").input_value()
    tab.get_by_role("button", name="A right one, please").click()

    def another():
        now = tab.get_by_role("spinbutton", name="Node").input_value()
        assert now != before
        assert query(tab)["node"] == now

    eventually(tab, another)


def test_clicking_a_neighbour_follows_it(open_page):
    tab = open_page("smooth?dataset=karate&clients=3&node=5")
    chart = "document.querySelector('[class*=smooth_around] .js-plotly-plot')"
    tab.wait_for_function(f"() => {chart}?.querySelector('.nsewdrag')", timeout=90_000)

    def click():
        node, x, y = tab.evaluate(
            f"""() => {{
                const gd = {chart}, box = gd.getBoundingClientRect(), l = gd._fullLayout;
                const trace = gd.data.find(t => t.marker?.size?.includes?.(17));
                const i = trace.marker.size.indexOf(17);
                return [trace.customdata[i][0], box.x + l.xaxis._offset + l.xaxis.d2p(trace.x[i]),
                        box.y + l.yaxis._offset + l.yaxis.d2p(trace.y[i])];
            }}"""
        )
        tab.mouse.click(x, y)
        wait_for_query(tab, "node", str(node), 15_000)
        eventually(tab, lambda: node_is(tab, str(node)), 15)

    tab.wait_for_timeout(1000)
    eventually(tab, click)


def test_a_dataset_that_cannot_be_had_is_one_sentence(open_page):
    tab = open_page_without_metric(open_page, "?dataset=Squirrel")
    tab.get_by_text("Squirrel is not on disk and cannot be downloaded").wait_for(timeout=90_000)
    assert tab.locator("[data-testid=stException]").count() == 0
    tab.get_by_role("combobox", name="Dataset").click()
    tab.get_by_role("option", name="karate").click()
    settled(tab)
    wait_for_query(tab, "dataset", "karate")


def open_page_without_metric(open_page, path):
    """For a view that shows a sentence instead of numbers."""
    tab = open_page()
    tab.goto(tab.url.split("?")[0] + path)
    return tab
