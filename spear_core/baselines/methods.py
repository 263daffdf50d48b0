"""`METHODS`: the trained methods that SPEAR is compared with.

To add one, write its class and its knobs into a file of their own and name it here: settings,
command line, stored runs, pages and figures read this table.
"""

from dataclasses import Field, dataclass, field, fields
from typing import Any

from spear_core.baselines.dense import DENSE
from spear_core.baselines.fedavg import FedAvg
from spear_core.baselines.fedcvae import FedCVAE
from spear_core.baselines.fedgta import FedGTA
from spear_core.baselines.fedopt import FedOPT
from spear_core.baselines.fedproto import FedProto
from spear_core.baselines.fedprox import FedProx
from spear_core.baselines.fedpub import FedPub
from spear_core.baselines.fedsd2c import FedSD2C
from spear_core.baselines.fedtad import FedTAD
from spear_core.baselines.ghost import GHOST
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.moon import MOON
from spear_core.baselines.oasis import OASIS


@dataclass(frozen=True)
class Method:
    """One trained method."""

    name: str  # as the command line calls it
    title: str  # as the literature writes it
    colour: str  # on every figure
    kind: type[FedAvg]  # what it does
    own: dict[str, Any] = field(default_factory=dict)  # where its defaults are not the usual ones
    literature: dict[str, Any] = field(default_factory=dict)  # what the field sets, decay apart
    recon: str = ""  # what of it is our reconstruction, for want of public code

    @property
    def one_shot(self) -> bool:
        """Whether it has a single round."""
        return self.kind.one_shot

    @property
    def knobs(self) -> tuple["Field[Any]", ...]:
        """The fields of its knobs, with help and limits."""
        return fields(self.kind.knobs)


ONCE = {"rounds": 1, "epochs": 100}  # of a one-shot method
GHOSTS = ONCE | {"learning_rate": 0.005, "weight_decay": 4e-4}  # in GHOST's code and OASIS's paper
GRAPHS = "its step from images to graphs"

METHODS = {
    method.name: method
    for method in (
        Method(
            "dense",
            "DENSE",
            "#7F3C8D",
            DENSE,
            own=ONCE | {"weighting": "uniform"},
            literature={"dense_student": "sgd", "dense_epochs": 200, "dense_nodes": 256},
            recon=GRAPHS,
        ),
        Method("fedcvae", "FedCVAE", "#11A579", FedCVAE, own=ONCE, recon=GRAPHS),
        Method(
            "fedsd2c",
            "FedSD2C",
            "#3969AC",
            FedSD2C,
            own=ONCE,
            literature={"sd2c_core": 50, "sd2c_rate": 0.1},
            recon=GRAPHS,
        ),
        Method(
            "ghost",
            "GHOST",
            "#B8860B",
            GHOST,
            own=GHOSTS | {"dropout": 0.3},
            literature={"weight_decay": 4e-4, "ghost_labels": "all"},
            recon="which weight its criterion reads",
        ),
        Method(
            "oasis",
            "OASIS",
            "#E73F74",
            OASIS,
            own=GHOSTS,
            literature={"weight_decay": 4e-4, "oasis_labels": "all"},
            recon="all but its outline: no code is public, and its formulas are ours in part",
        ),
        Method("fedavg", "FedAvg", "#E69F00", FedAvg),
        Method("fedprox", "FedProx", "#009E73", FedProx),
        Method("fedopt", "FedOPT", "#CC79A7", FedOPT),
        Method("moon", "MOON", "#56B4E9", MOON, literature={"contrast": 1.0}),
        Method("fedproto", "FedProto", "#D55E00", FedProto),
        Method(
            "fedproto-heads",
            "FedProto, clients' heads",
            "#A04000",
            FedProto,
            own={"readout": "ensemble"},
        ),
        Method("fedpub", "FedPub", "#F0E442", FedPub),
        Method("fedgta", "FedGTA", "#8C8C8C", FedGTA, own={"weighting": "confidence"}),
        Method("fedtad", "FedTAD", "#9467BD", FedTAD),
    )
}


def kinds_of_knobs() -> tuple[type[Knobs], ...]:
    """Every kind of knobs once: two methods may differ in the values alone."""
    return tuple(dict.fromkeys(method.kind.knobs for method in METHODS.values()))
