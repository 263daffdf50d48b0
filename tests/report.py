"""How a run of the tests ends: what was left out, the minutes of each suite, who needed a rerun."""

from collections import Counter

import pytest

RERUNS = 2  # of a browser test that fails: a page is drawn by three programs at once
LEFT_OUT = ("browser", "flower", "notebook", "slow")  # markers that `make quick` leaves out


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Only tests in a browser are run again."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=RERUNS))


def pytest_configure(config):
    config.left_out = Counter()


def pytest_deselected(items):
    """Count what `-m` leaves out, by marker."""
    for item in items:
        marker = next(filter(item.get_closest_marker, LEFT_OUT), "other")
        item.config.left_out[marker] += 1


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):  # a worker of xdist tells the one who asked
        session.config.workeroutput["left_out"] = dict(session.config.left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every worker collects every test, so the last to say is as right as the first."""
    node.config.left_out = Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter, config):
    yield  # after everything else that is said
    stats = terminalreporter.stats
    reports = [r for group in stats.values() for r in group if hasattr(r, "duration")]
    terminalreporter.section("minutes of each suite")
    for line in minutes((r.nodeid, r.duration) for r in reports):
        terminalreporter.write_line(line)
    if config.left_out:
        words = ", ".join(f"{count} {name}" for name, count in sorted(config.left_out.items()))
        terminalreporter.write_line(f"left out: {words}")
    again = sorted({r.nodeid for r in stats.get("rerun", [])})
    said = f"needed a second try: {', '.join(again)}" if again else "no test needed a second try"
    terminalreporter.write_line(said)


def suite(nodeid):
    """The folder that a test is in, at most two deep.

    >>> suite("tests/pages/test_app.py::test_x"), suite("spear_core/run.py::spear_core.run")
    ('tests/pages', 'spear_core')
    """
    folders = nodeid.partition("::")[0].split("/")[:-1]
    return "/".join(folders[: 2 if folders[:1] == ["tests"] else 1]) or "."


def minutes(durations):
    """One line a suite, the longest first, from (nodeid, seconds).

    >>> list(minutes([("tests/a/test_x.py::y", 90), ("tests/a/test_z.py::y", 30)]))
    ['   2.0  tests/a', '   2.0  together']
    """
    seconds = Counter()
    for nodeid, duration in durations:
        seconds[suite(nodeid)] += duration
    for name, total in [*seconds.most_common(), ("together", sum(seconds.values()))]:
        yield f"{total / 60:6.1f}  {name}"
