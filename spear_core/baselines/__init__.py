"""The trained methods that SPEAR is compared with: FedAvg and seven others, one a file.

`METHODS` names them, `defaults` says how one trains, `train` does it, `stored` has what was done.
"""

from spear_core.baselines.loop import train
from spear_core.baselines.methods import METHODS, Method
from spear_core.baselines.results import Row, stored
from spear_core.baselines.training import Training, defaults

__all__ = ["METHODS", "Method", "Row", "Training", "defaults", "stored", "train"]
