"""`METHODS`: the trained methods that SPEAR is compared with.

To add one, write its class and its knobs into a file of their own and name it here: settings,
command line, stored runs, pages and figures read this table.
"""

from dataclasses import Field, dataclass, field, fields
from typing import Any

from spear_core.baselines.fedavg import FedAvg
from spear_core.baselines.fedgta import FedGTA
from spear_core.baselines.fedopt import FedOPT
from spear_core.baselines.fedproto import FedProto
from spear_core.baselines.fedprox import FedProx
from spear_core.baselines.fedpub import FedPub
from spear_core.baselines.fedtad import FedTAD
from spear_core.baselines.moon import MOON


@dataclass(frozen=True)
class Method:
    """One trained method."""

    name: str  # as the command line calls it
    title: str  # as the literature writes it
    colour: str  # on every figure
    kind: type[FedAvg]  # what it does
    own: dict[str, Any] = field(default_factory=dict)  # where its defaults are not the usual ones
    literature: dict[str, Any] = field(default_factory=dict)  # what the field sets, decay apart

    @property
    def knobs(self) -> tuple["Field[Any]", ...]:
        """The fields of its knobs, with help and limits."""
        return fields(self.kind.knobs)


METHODS = {
    method.name: method
    for method in (
        Method("fedavg", "FedAvg", "#E69F00", FedAvg),
        Method("fedprox", "FedProx", "#009E73", FedProx),
        Method("fedopt", "FedOPT", "#CC79A7", FedOPT),
        Method("moon", "MOON", "#56B4E9", MOON, literature={"contrast": 1.0}),
        Method("fedproto", "FedProto", "#D55E00", FedProto),
        Method("fedpub", "FedPub", "#F0E442", FedPub),
        Method("fedgta", "FedGTA", "#8C8C8C", FedGTA, own={"weighting": "confidence"}),
        Method("fedtad", "FedTAD", "#9467BD", FedTAD),
    )
}
