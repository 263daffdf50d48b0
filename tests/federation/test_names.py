"""What a federation is told and what it refuses, in the code, the apps and the docs."""

import tomllib

import pytest

from spear_core import Settings, SpearError
from spear_core.defences import DEFENCES
from spear_core.federation.names import RUN_SETTINGS, SHAPE, offered, refused
from tests.browser import ROOT


@pytest.mark.parametrize("folder", [".", "tests/federation/faulty"])
def test_the_apps_defaults_are_those_of_the_settings(folder):
    text = (ROOT / folder / "pyproject.toml").read_text(encoding="utf-8")
    config = tomllib.loads(text)["tool"]["flwr"]["app"]["config"]
    usual = Settings()
    for name in RUN_SETTINGS:
        assert config[name.replace("_", "-")] == getattr(usual, name), name
    assert [config[name] for name in SHAPE] == [0, 0]  # to be given


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"defence": "oracle"}, "who lies"),
        ({"defence": "consensus"}, "test graph"),
        ({"reliability": "degree"}, "degrees"),
    ],
)
def test_what_needs_more_than_uploads_is_refused(setting, said):
    with pytest.raises(SpearError, match=said):
        offered(Settings(**setting))


def test_every_other_defence_is_offered_and_its_knob_travels():
    assert list(refused()) == ["consensus", "oracle"]
    for name in DEFENCES.keys() - refused().keys():
        settings = Settings(defence=name)
        assert offered(settings) is settings
        assert DEFENCES[name].knob in ("", *RUN_SETTINGS)


def test_the_docs_name_what_is_refused():
    text = (ROOT / "docs" / "federation.md").read_text(encoding="utf-8")
    sentence = text[text.index("are refused with a sentence") :].split("\n\n")[0]
    for name in DEFENCES:
        assert (f"`{name}`" in sentence) == (name in refused())
