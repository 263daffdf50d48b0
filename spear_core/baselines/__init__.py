"""The trained methods that SPEAR is compared with: FedAvg and seven others, one a file.

`train` lives in `spear_core.baselines.loop`: that module needs PyG, whose import takes seconds, so
this package only names the settings and the stored runs.
"""

from spear_core.baselines.results import Row, stored
from spear_core.baselines.training import METHODS, Training, defaults

__all__ = ["METHODS", "Row", "Training", "defaults", "stored"]
