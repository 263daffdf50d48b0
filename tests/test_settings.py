"""Settings check themselves with one sentence that says what to do."""

import json
import math
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

from spear_core import Settings, SpearError, defaults, load, split
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import Training
from spear_core.cli import parser
from spear_core.cli.options import help_of
from spear_core.fields import changed, setting, stage_of
from spear_core.figures import sweep as figures
from spear_core.settings import FIELDS, equation, named, symbol, titled, told, written
from spear_core.transforms.perturb import perturb
from tests.apptest import opened


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"beta": 0}, "beta must be above 0"),
        ({"beta": -1}, "beta must be above 0"),
        ({"beta": math.nan}, "beta must be a finite number"),
        ({"beta": math.inf}, "beta must be a finite number"),
        ({"clients": 0}, "clients must be at least 1"),
        ({"clients": 2.5}, "clients must be a whole number"),
        ({"clients": True}, "clients must be a whole number"),
        ({"alpha": 1}, "alpha must be below 1"),
        ({"alpha": -0.1}, "alpha must be at least 0"),
        ({"alpha": math.nan}, "alpha must be a finite number"),
        ({"steps": -1}, "steps must be at least 0"),
        ({"gamma": -1}, "gamma must be at least 0"),
        ({"gamma": math.nan}, "gamma must be a finite number"),
        ({"gamma": "much"}, "gamma must be a number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 2**32}, "seed must be at most 4294967295, got 4294967296"),
        ({"seed": 10**400}, "got a far larger number"),
        ({"beta": 1e308}, "beta must be at most"),
        ({"steps": 10**6}, "steps must be at most 1000"),
        ({"nodes": 10**12}, "nodes must be at most"),
        ({"dataset": "synthetic", "nodes": 10**7, "features": 10**5}, "use fewer of one"),
        ({"dataset": "zzzzzz"}, "There is no dataset 'zzzzzz'. The names are digits"),
        ({"split": -1}, "split must be at least 0"),
        ({"partition": "fair"}, "partition must be one of dirichlet, iid, louvain"),
        ({"peers": "all"}, "peers must be one of"),
        ({"reliability": "x"}, "reliability must be one of"),
        ({"device": "tpu"}, "device must be one of"),
        ({"shrinkage": 1}, "shrinkage must be true or false"),
        ({"homophily": 1.1}, "homophily must be at most 1"),
        ({"nodes": 1}, "nodes must be at least 2"),
        ({"dataset": "synthetic", "nodes": 3, "classes": 4}, "classes must be at most nodes"),
        ({"epsilon": 1e308}, "epsilon must be at most 1000000000000.0 or inf, got 1e+308"),
        ({"gamma": 1e10}, "gamma must be at most"),
        ({"clients": "9" * 400}, "clients must be at most 100000, got a far larger number"),
        ({"labels_per_class": "9" * 20}, "labels_per_class must be at most 10000000"),
        ({"flip_from": "9" * 21}, "flip_from must be at most 1000"),
        ({"chosen": "1,100000"}, "chosen must be client numbers"),
        ({"dataset": 3}, "dataset must be a word"),
        ({"dataset": "Coraa"}, "did you mean Cora?"),
        ({"dataset": "arxiv"}, "did you mean ogbn-arxiv?"),
    ],
)
def test_refused_in_one_sentence(values, words):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as raised:
        Settings(**values)
    assert isinstance(raised.value, SpearError)
    assert words in str(raised.value)


@pytest.mark.parametrize("kind", [Settings, Training, *(m.kind.knobs for m in METHODS.values())])
def test_every_number_has_an_upper_limit(kind):
    numbers = [f for f in fields(kind) if f.type in (int, float, "int", "float")]
    endless = [f.name for f in numbers if not {"high", "below"} & set(f.metadata)]
    assert endless == []


def test_names_are_forgiving():
    assert Settings(dataset="cora").dataset == "Cora"
    assert Settings(dataset="roman_EMPIRE").dataset == "Roman-empire"


def test_equal_settings_are_one_key():
    a = Settings(clients=np.int64(10), beta=np.float32(0.5), gamma="inf")
    b = Settings(clients="10", beta=0.5, gamma=math.inf)
    assert a == b
    assert hash(a) == hash(b)
    assert type(a.clients) is int


def test_infinite_gamma_survives_json():
    plain = json.loads(json.dumps(Settings(gamma=math.inf).to_dict(), allow_nan=False))
    assert plain["gamma"] == "inf"
    assert Settings(**plain) == Settings(gamma=math.inf)


def test_karate_starts_with_three_clients():
    assert defaults("karate").clients == 3
    assert defaults("cora") == Settings(dataset="Cora")


# what people read ------------------------------------------------------------------------------
@pytest.mark.parametrize("f", fields(Settings), ids=lambda f: f.name)
def test_every_setting_has_words_and_a_format(f):
    label, help = f.metadata["label"], f.metadata["help"]
    assert label
    assert label == label.strip()
    assert label[0].islower()
    assert help
    assert label not in help  # it goes on where the label ends
    assert f.default == "" or written(f.name, f.default)


def test_no_two_settings_have_one_name():
    labels = [f.metadata["label"] for f in fields(Settings)]
    symbols = [f.metadata["symbol"] for f in fields(Settings) if f.metadata["symbol"]]
    assert len(set(labels)) == len(labels)
    assert len(set(symbols)) == len(symbols)


def test_names_and_values_as_people_read_them():
    assert named("beta") == titled("beta") == "β, label skew"
    assert named("edge_noise") == "ρ, edges changed (share)"
    assert named("label_noise") == "training labels replaced (share)"
    assert titled("label_noise") == "Training labels replaced (share)"
    assert told("label_noise") == "By another class"
    assert (symbol("gamma"), symbol("dataset")) == ("γ", "dataset")
    assert equation("gamma", math.inf) == "γ = ∞"
    assert equation("shrinkage", False) == "shrinkage = off"
    assert written("delta", 1e-5) == "1e-05"
    assert written("inflate", 1e6) == "× 1e+06"
    assert [written("labels_per_class", n) for n in (0, 3)] == ["all", "3"]
    assert written("clients", np.int64(10)) == written("clients", 10.0) == "10"


@pytest.fixture
def renamed(monkeypatch):
    """β with another label, symbol, unit and format."""
    words = {"label": "unevenness", "symbol": "u", "unit": "bananas", "form": lambda v: f"<{v}>"}
    changed = MappingProxyType(FIELDS["beta"].metadata | words)
    monkeypatch.setattr(FIELDS["beta"], "metadata", changed)
    return "u, unevenness (bananas)"


def test_the_command_line_says_the_label_of_the_field(renamed, capsys):
    for command in ("run", "sweep", "baseline"):
        with pytest.raises(SystemExit):
            parser().parse_args([command, "--help"])
        assert renamed in " ".join(capsys.readouterr().out.split())


def test_a_sweep_figure_says_the_label_of_the_field(renamed):
    table = pd.DataFrame({"dataset": "karate", "beta": [0.1, 1.0], "accuracy": [0.5, 0.75]})
    curve = figures.curve(table, "beta")
    assert curve.layout.xaxis.title.text == renamed
    assert curve.data[0].text[0].startswith(f"karate, {renamed} = <0.1>: 50.0 %")
    both = figures.heat(table.assign(gamma=[0.5, math.inf]), "beta", "gamma")
    assert both.layout.xaxis.title.text == renamed
    assert list(both.layout.xaxis.ticktext) == ["<0.1>", "<1.0>"]
    assert list(both.layout.yaxis.ticktext) == ["0.5", "∞"]


def test_the_controls_say_the_label_of_the_field(renamed):
    page = opened("split")
    assert page.select_slider(key="beta").label == renamed
    assert page.slider(key="alpha").label == named("alpha")
    assert page.select_slider(key="gamma").options[-1] == "∞"


def test_a_field_without_a_label_keeps_its_help():
    toy = setting(3, "how often it rings", symbol="B", low=1)
    toy.name = "bells"
    assert help_of(toy) == "B: how often it rings (default 3)"


@pytest.mark.parametrize("stage", ["load", "split", "spoil", "mislabel"])
def test_a_new_setting_of_a_stage_is_in_its_key(stage):
    """A field that is marked and nothing else: what was kept for another value is not taken."""

    @dataclass(frozen=True)
    class More(Settings):
        flavour: int = setting(0, "tells nothing", label="flavour", stages=stage)
        colour: int = setting(0, "tells nothing", label="colour")

    plain, other = More(dataset="synthetic"), More(dataset="synthetic", flavour=1, colour=1)
    assert stage_of(plain, stage) != stage_of(other, stage)
    assert stage_of(plain, stage) == stage_of(replace(other, flavour=0), stage)
    for name in {"load", "split", "spoil", "mislabel"} - {stage}:
        assert stage_of(plain, name) == stage_of(other, name)


def test_a_kept_graph_split_and_noise_are_those_of_their_settings():
    @dataclass(frozen=True)
    class More(Settings):
        flavour: int = setting(0, "", label="flavour", stages="load split spoil mislabel")

    noisy = {"clients": 3, "dataset": "karate", "edge_noise": 0.5, "label_noise": 0.5}
    one, two = More(**noisy), More(**noisy, flavour=1)
    graphs = [load(s) for s in (one, one, two)]
    assert graphs[0] is graphs[1]
    assert graphs[0] is not graphs[2]
    parts = [split(graphs[0], s) for s in (one, one, two)]
    assert parts[0] is parts[1]
    assert parts[0] is not parts[2]
    spoiled = [perturb(parts[0], s) for s in (one, one, two)]
    assert spoiled[0] is spoiled[1]
    assert spoiled[0] is not spoiled[2]


def test_settings_that_a_graph_does_not_depend_on_share_it():
    cora, digits = Settings(dataset="digits", seed=1), Settings(dataset="digits", nodes=7, seed=2)
    assert load(cora) is load(digits)
    assert load(replace(cora, labels_per_class=3)) is not load(replace(digits, labels_per_class=3))


def test_what_differs_is_named_with_its_value():
    some = Settings(alpha=0.8, gamma="inf", dataset="karate")
    assert changed(some) == {"dataset": "karate", "alpha": 0.8, "gamma": math.inf}
    assert changed(some, replace(some, alpha=0.5, seed=1)) == {"seed": 42, "alpha": 0.8}
    assert changed(Settings()) == {}
