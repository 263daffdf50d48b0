"""`PARTS`: which stored runs the comparison with the whole field needs, by what they are for."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from spear_core.baselines.methods import METHODS
from spear_core.baselines.results import Row, key_of
from spear_core.baselines.training import Training, defaults
from spear_core.settings import PAPER_SEEDS, Settings
from spear_core.settings import defaults as start_of

DATASETS = (
    *("Cora", "CiteSeer", "PubMed"),
    *("Texas", "Chameleon", "Actor", "Computers", "Coauthor-CS"),
)
CITATIONS = DATASETS[:3]
SEEDS = PAPER_SEEDS[:3]
CLIENTS = (5, 10, 20, 50, 100)
BETAS = (0.05, 0.1, 0.3, 0.5, 1.0, 10.0)
FOUR = ("fedavg", "fedproto", "ghost", "oasis")  # FedAvg and three others, on figures of few
NOISY = ("fedavg", "dense", "fedcvae", "fedsd2c", "ghost", "oasis")  # with noise in the paper


@dataclass(frozen=True)
class Wanted:
    """One run of a plan."""

    settings: Settings
    training: Training

    @property
    def title(self) -> str:
        s, t = self.settings, self.training
        noise = f", ρ = {s.edge_noise:g}" if s.edge_noise else ""
        noise += f", η = {s.feature_noise:g}" if s.feature_noise else ""
        more = noise if METHODS[t.method].one_shot else f"{noise}, {t.rounds} rounds"
        return f"{t.title} on {s.dataset}, K = {s.clients}, β = {s.beta:g}, seed {s.seed}{more}"


def _runs(
    methods: Iterable[str],
    datasets: Iterable[str],
    clients: Iterable[int] = (10,),
    betas: Iterable[float] = (0.05,),
    rounds: int = 100,
    **noise: Any,
) -> Iterator[Wanted]:
    for name in datasets:
        start = start_of(name)
        for many in clients:
            for beta in betas:
                for method in methods:
                    how = {} if METHODS[method].one_shot else {"rounds": rounds}
                    for seed in SEEDS:
                        at = replace(start, clients=many, beta=beta, seed=seed, **noise)
                        yield Wanted(at, defaults(method, **how))


PARTS: dict[str, Callable[[], Iterator[Wanted]]] = {
    "main": lambda: _runs(METHODS, DATASETS),
    "pareto": lambda: _runs(FOUR, ["Coauthor-CS"], clients=CLIENTS),
    "beta": lambda: _runs(FOUR, ["Cora"], betas=BETAS),
    "clients": lambda: _runs(("fedavg", "ghost", "oasis"), CITATIONS, clients=CLIENTS),
    "edge-noise": lambda: _runs(NOISY, CITATIONS, edge_noise=0.5),
    "feature-noise": lambda: _runs(NOISY, CITATIONS, feature_noise=0.5),
    "long": lambda: _runs(("fedavg", "fedprox"), CITATIONS, rounds=500),
}


def plan(
    parts: Iterable[str],
    methods: Iterable[str] = (),
    datasets: Iterable[str] = (),
    seeds: Iterable[int] = (),
) -> list[Wanted]:
    """The runs of some parts, each once; of those methods, seeds or datasets alone that are named.

    Datasets that are named take the place of the parts' own.
    """
    names, some, only = set(methods), list(datasets), set(seeds)
    found = {}
    for part in parts:
        for wanted in PARTS[part]():
            places = [replace(wanted.settings, dataset=name) for name in some]
            for settings in places or [wanted.settings]:
                one = Wanted(settings, wanted.training)
                if names and one.training.method not in names:
                    continue
                if not only or settings.seed in only:
                    found[key_of(settings, one.training)] = one
    return list(found.values())


def missing(wanted: Iterable[Wanted], rows: Iterable[Row], limit: float) -> list[Wanted]:
    """Those without a row; a row that ended before its last round counts from this limit on."""
    had = {row.key for row in rows if is_enough(row, limit)}
    return [one for one in wanted if key_of(one.settings, one.training) not in had]


def is_enough(row: Row, limit: float) -> bool:
    """Whether a row is finished, or was given as many seconds as the limit and did not finish."""
    took = row.seconds_client + row.seconds_server
    return row.rounds_done >= row.training.rounds or took >= limit
