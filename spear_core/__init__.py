"""SPEAR: training-free, one-shot federated graph learning.

>>> from spear_core import Settings, run
>>> result = run(Settings(dataset="karate", clients=3, beta=0.5, seed=42))
>>> result.metrics.accuracy > 0.5
True
"""

import os
import warnings

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: idle threads must not spin
for _harmless in ("Sparse CSR tensor support is in beta", "Sparse invariant checks are implicitly"):
    warnings.filterwarnings("ignore", message=_harmless)

from spear_core.classify import Prediction, classify
from spear_core.client import Uploads, upload
from spear_core.datasets import load
from spear_core.datasets.own import make_graph
from spear_core.errors import SpearError
from spear_core.graph import Graph
from spear_core.grids import Grid, grid
from spear_core.measures import Metrics, measure
from spear_core.partition import Partition, split
from spear_core.run import Result, run, run_on
from spear_core.server import Estimate, estimate
from spear_core.settings import PAPER_SEEDS, Settings, defaults
from spear_core.sweeps import sweep

__all__ = [
    "PAPER_SEEDS",
    "Estimate",
    "Graph",
    "Grid",
    "Metrics",
    "Partition",
    "Prediction",
    "Result",
    "Settings",
    "SpearError",
    "Uploads",
    "classify",
    "defaults",
    "estimate",
    "grid",
    "load",
    "make_graph",
    "measure",
    "run",
    "run_on",
    "split",
    "sweep",
    "upload",
]
