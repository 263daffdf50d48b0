"""`Training` and `METHODS`: what a method reads, and how it is said."""

import json
import pickle
from dataclasses import replace

import pytest

from spear_core.baselines.fedprox import FedProxKnobs
from spear_core.baselines.methods import METHODS
from spear_core.baselines.training import Training, defaults, literature
from spear_core.baselines.views import recipe_of
from spear_core.errors import SettingError

SHARED = {
    "rounds": 100, "epochs": 3, "learning_rate": 0.01, "weight_decay": 0.0, "dropout": 0.5,
    "hidden": 256, "weighting": "train",
}  # fmt: skip
OWN = {  # runs in people's caches are named by these: a changed default loses them
    "fedavg": {},
    "fedprox": {"proximal": 0.001},
    "fedopt": {
        "server_optimizer": "adam", "server_rate": 0.01, "server_beta1": 0.9,
        "server_beta2": 0.99, "server_floor": 0.001,
    },
    "moon": {"contrast": 0.1, "temperature": 0.5},
    "fedproto": {"prototype_pull": 1.0, "readout": "head"},
    "fedpub": {"masks": True, "sharpness": 10.0, "mask_penalty": 0.0, "model_pull": 0.001},
    "fedgta": {"weighting": "confidence", "moments": 10, "similar_above": 0.5},
    "fedtad": {"distil_rounds": 5, "student_steps": 5, "distil_rate": 0.001},
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_uses(method):
    usual = {"method": method} | SHARED | OWN[method]
    assert json.dumps(defaults(method).used()) == json.dumps(usual)
    field = usual | {"weight_decay": 0.0005} | ({"contrast": 1.0} if method == "moon" else {})
    assert json.dumps(literature(method).used()) == json.dumps(field)


def test_a_knob_belongs_to_one_method():
    names = [f.name for method in METHODS.values() for f in method.knobs]
    assert len({*names, *SHARED, "method"}) == len(names) + len(SHARED) + 1


def test_knobs_are_given_and_read_like_fields():
    training = Training("fedprox", proximal="0.1")
    assert training.proximal == 0.1
    assert training == Training("FedProx", knobs=FedProxKnobs(0.1))
    assert len({training, Training("fedprox", proximal=0.1), defaults("fedprox")}) == 2
    assert replace(training, rounds=7) == Training("fedprox", rounds=7, proximal=0.1)
    assert replace(training, proximal=0.2).proximal == 0.2
    assert replace(training, method="moon") == Training("moon")
    assert pickle.loads(pickle.dumps(training)) == training
    assert Training("fedavg", proximal=0.1) == Training("fedavg")  # of another method
    with pytest.raises(AttributeError, match="proximal"):
        Training("fedavg").proximal  # noqa: B018
    with pytest.raises(TypeError, match="speed"):
        Training("fedavg", speed=1)


def test_training_checks_itself():
    assert Training("MOON").method == "moon"
    for wrong in (
        {"method": "fedsgd"},
        {"rounds": 0},
        {"dropout": 1.0},
        {"learning_rate": float("nan")},
        {"weighting": "confidence"},
        {"server_optimizer": "sgd"},
    ):
        with pytest.raises(SettingError):
            Training(**wrong)
    assert "proximal" in defaults("fedprox").used()
    assert "proximal" not in defaults("fedavg").used()


def test_recipes():
    assert recipe_of(defaults("moon", rounds=7)) == "default"
    assert recipe_of(literature("moon")) == "literature"
    assert recipe_of(defaults("moon", epochs=9)) is None
