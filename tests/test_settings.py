"""Settings check themselves with one sentence that says what to do."""

import json
import math

import numpy as np
import pytest

from spear_core import Settings, SpearError, defaults


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
