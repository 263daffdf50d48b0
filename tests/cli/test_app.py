"""`spear app` where it cannot start, and the name that help and errors call us by."""

import socket
import sys

import pytest

from spear_core.cli import app, main, parser


@pytest.fixture
def busy():
    """A port of this machine on which somebody listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        ("/usr/bin/spear", "spear"),
        ("spear.exe", "spear"),
        ("/here/spear_core/__main__.py", "python -m spear_core"),
        ("-c", "python -m spear_core"),
    ],
)
def test_we_are_named_as_we_were_called(monkeypatch, capsys, argv, name):
    monkeypatch.setattr(sys, "argv", [argv])
    assert parser().prog == name
    with pytest.raises(SystemExit):
        main(["fly"])
    assert capsys.readouterr().err.endswith(f"See {name} --help.\n")
    main(["data"])
    assert f"Get one with: {name} data NAME" in capsys.readouterr().out


def test_a_port_that_is_taken(monkeypatch, capsys, busy):
    monkeypatch.setattr(sys, "argv", ["spear"])
    assert main(["app", "--port", str(busy)]) == 2
    assert capsys.readouterr().err == f"Port {busy} is taken; say spear app --port {busy + 1}.\n"


def test_streamlit_that_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["app"]) == 2
    assert capsys.readouterr().err == "Streamlit is not installed; say pip install streamlit.\n"


def test_an_app_that_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(app, "SCRIPTS", (tmp_path / "spear_app" / "app.py", tmp_path / "app.py"))
    assert main(["app"]) == 2
    assert capsys.readouterr().err.startswith("The app is missing: there is no ")


@pytest.mark.parametrize("port", ["0", "65536", "-1", "many"])
def test_a_port_that_is_none(capsys, port):
    with pytest.raises(SystemExit) as stop:
        main(["app", f"--port={port}"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
