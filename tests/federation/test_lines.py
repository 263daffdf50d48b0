"""The commands that a page shows: what is typed is the setting, to the last digit."""

import argparse
import shlex
import tomllib

from hypothesis import given

from spear_core import Settings
from spear_core.cli.options import add_settings, settings_of
from spear_core.federation import lines
from spear_core.federation.names import RUN_SETTINGS, SHAPE
from tests.strategies import any_settings, unshrunk


def typed(words: str) -> Settings:
    """The settings that our command line makes of some words."""
    parser = argparse.ArgumentParser()
    add_settings(parser)
    return settings_of(parser.parse_args(shlex.split(words)))


@unshrunk
@given(any_settings())
def test_our_commands_give_the_exact_settings(settings):
    assert typed(lines.options(settings)) == settings


@unshrunk
@given(any_settings())
def test_and_so_does_flowers(settings):
    config = shlex.split(lines.run_line(settings))[-1]
    told = tomllib.loads(config.replace(" ", "\n"))
    assert [told[name] for name in SHAPE] == [settings.classes, settings.features]
    for name in RUN_SETTINGS:
        usual = getattr(Settings(), name)
        assert told.get(name.replace("_", "-"), usual) == getattr(settings, name), name


def test_common_values_look_as_they_always_did():
    assert lines.options(Settings(beta=1, gamma="inf")) == "--dataset digits --beta 1 --gamma inf"
