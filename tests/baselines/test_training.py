"""`Training` and `METHODS`: what a method reads, and how it is said."""

import json
import pickle
from dataclasses import fields, replace

import pytest

from spear_core.baselines.fedprox import FedProxKnobs
from spear_core.baselines.methods import METHODS, kinds_of_knobs
from spear_core.baselines.training import Training, defaults, literature
from spear_core.baselines.views import recipe_of
from spear_core.errors import SettingError

SHARED = {
    "rounds": 100, "epochs": 3, "learning_rate": 0.01, "weight_decay": 0.0, "dropout": 0.5,
    "hidden": 256, "weighting": "train",
}  # fmt: skip
ONCE = {"rounds": 1, "epochs": 100}
GHOSTS = ONCE | {"learning_rate": 0.005, "weight_decay": 4e-4}
FIELD = {  # what the field sets, beside a decay of 5e-4
    "moon": {"contrast": 1.0},
    "dense": {"dense_student": "sgd", "dense_epochs": 200, "dense_nodes": 256},
    "fedsd2c": {"sd2c_core": 50, "sd2c_rate": 0.1},
    "ghost": {"weight_decay": 4e-4, "ghost_labels": "all"},
    "oasis": {"weight_decay": 4e-4, "oasis_labels": "all"},
}
OWN = {  # runs in people's caches are named by these: a changed default loses them
    "fedavg": {},
    "dense": ONCE | {
        "weighting": "uniform", "dense_epochs": 50, "dense_steps": 20, "dense_nodes": 200,
        "dense_pool": 20, "dense_adversary": 1.0, "dense_temperature": 20.0,
        "dense_neighbours": 5, "dense_labelled": False, "dense_student": "adam",
    },
    "fedcvae": ONCE | {
        "cvae_kind": "kd", "cvae_latent": 10, "cvae_window": 3.0, "cvae_steps": 500,
        "cvae_rate": 0.01, "cvae_nodes": 1000, "cvae_classifier": 200, "cvae_neighbours": 5,
        "cvae_smooth": False,
    },
    "fedsd2c": ONCE | {
        "sd2c_core": 10, "sd2c_skip": False, "sd2c_moves": 100, "sd2c_rate": 0.01,
        "sd2c_guide": 0.0, "sd2c_neighbours": 3, "sd2c_steps": 200,
    },
    "ghost": GHOSTS | {
        "dropout": 0.3, "ghost_spread": 0.05, "ghost_fused": 0.1, "ghost_labels": "held",
        "ghost_edges": True, "ghost_nodes": 2000, "ghost_graphs": 3, "ghost_steps": 5,
        "ghost_memory": 1e-11,
    },
    "oasis": GHOSTS | {
        "oasis_spread": 0.05, "oasis_fused": 0.1, "oasis_teacher": 50, "oasis_codes": 64,
        "oasis_commit": 0.25, "oasis_apart": 0.01, "oasis_rebuild": 1.0, "oasis_labels": "held",
        "oasis_nodes": 2000, "oasis_epochs": 20, "oasis_wesad": 0.01, "oasis_wdsrd": 1.0,
    },
    "fedprox": {"proximal": 0.001},
    "fedopt": {
        "server_optimizer": "adam", "server_rate": 0.01, "server_beta1": 0.9,
        "server_beta2": 0.99, "server_floor": 0.001,
    },
    "moon": {"contrast": 0.1, "temperature": 0.5},
    "fedproto": {"prototype_pull": 1.0, "readout": "head"},
    "fedproto-heads": {"prototype_pull": 1.0, "readout": "ensemble"},
    "fedpub": {"masks": True, "sharpness": 10.0, "mask_penalty": 0.0, "model_pull": 0.001},
    "fedgta": {"weighting": "confidence", "moments": 10, "similar_above": 0.5},
    "fedtad": {"distil_rounds": 5, "student_steps": 5, "distil_rate": 0.001},
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_what_a_method_uses(method):
    usual = {"method": method} | SHARED | OWN[method]
    assert json.dumps(defaults(method).used()) == json.dumps(usual)
    field = usual | {"weight_decay": 0.0005} | FIELD.get(method, {})
    assert json.dumps(literature(method).used()) == json.dumps(field)


def test_a_knob_belongs_to_one_kind_of_method():
    names = [f.name for kind in kinds_of_knobs() for f in fields(kind)]
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
        {"method": "dense", "rounds": 2},
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
