"""What liars cost: over who happens to lie, and under every defence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from spear_core.datasets import load
from spear_core.defences import DEFENCES
from spear_core.measures.spread import mean_and_spread
from spear_core.partition import split
from spear_core.run import accuracy_of
from spear_core.settings import PAPER_SEEDS, Settings
from spear_core.transforms.attack import attackers

Accuracy = Callable[[Settings], float | None]
NO_GAP = 0.5  # points between undefended and oracle under which a share of them says nothing
UNDEFENDED, ORACLE = "none", "oracle"


@dataclass(frozen=True)
class Draw:
    """One draw of liars: who, how much of the training data they hold, what is left."""

    liars: tuple[int, ...]
    share: float  # of all training nodes, in percent
    accuracy: float  # in percent


@dataclass(frozen=True)
class Defended:
    """One defence against one attack, means over seeds, in percent."""

    defence: str
    accuracy: float
    std: float  # over the seeds
    recovered: float | None  # of the gap between undefended and oracle; None without a gap
    clean: float  # when nobody lies
    clean_cost: float  # points lost then, against no defence


def honest(settings: Settings) -> Settings:
    """These settings when nobody lies and nothing is defended."""
    return replace(settings, attackers="random", attacker_count=0, chosen="", defence=UNDEFENDED)


def held_by(liars: Sequence[int], settings: Settings) -> float:
    """Share of the training nodes that these clients hold, in percent."""
    nodes = split(load(settings), settings).train_counts.sum(1)
    return 100 * float(nodes[list(liars)].sum()) / max(1, int(nodes.sum()))


def damage(
    settings: Settings,
    counts: Sequence[int] = (1, 2, 3, 4, 5),
    draws: int = 12,
    accuracy: Accuracy = accuracy_of,
) -> list[Draw]:
    """Accuracy over random draws of so many liars each, on the split of the settings."""
    part = split(load(settings), settings)
    found = []
    for count in (m for m in counts if m <= part.clients):
        for draw in range(draws):
            some = replace(settings, attackers="random", attacker_count=count, draw=draw)
            liars = attackers(part, some)
            value = accuracy(some)
            if value is not None:
                found.append(Draw(liars, held_by(liars, settings), 100 * value))
    return found


def compare(
    settings: Settings,
    defences: Iterable[str] = DEFENCES,
    seeds: Sequence[int] = PAPER_SEEDS,
    accuracy: Accuracy = accuracy_of,
) -> list[Defended]:
    """Every defence against the attack of the settings, and what it costs when nobody lies."""

    def over_seeds(settings: Settings) -> list[float]:
        values = [accuracy(replace(settings, seed=seed)) for seed in seeds]
        return [100 * value for value in values if value is not None]

    names = dict.fromkeys((UNDEFENDED, *defences, ORACLE))  # each once, in this order
    lied = {name: over_seeds(replace(settings, defence=name)) for name in names}
    clean = {name: over_seeds(replace(honest(settings), defence=name)) for name in names}
    if not lied[UNDEFENDED]:
        return []
    mean, std = ({n: mean_and_spread(v)[i] for n, v in lied.items()} for i in (0, 1))
    quiet = {name: mean_and_spread(values)[0] for name, values in clean.items()}
    gap = mean[ORACLE] - mean[UNDEFENDED]
    return [
        Defended(
            defence=name,
            accuracy=mean[name],
            std=std[name],
            recovered=100 * (mean[name] - mean[UNDEFENDED]) / gap if gap > NO_GAP else None,
            clean=quiet[name],
            clean_cost=quiet[UNDEFENDED] - quiet[name],
        )
        for name in names
    ]


def table(rows: Sequence[Defended]) -> list[dict[str, object]]:
    """The comparison as plain rows, numbers with one decimal."""
    return [
        {k: round(v, 1) + 0.0 if isinstance(v, float) else v for k, v in asdict(row).items()}
        for row in rows
    ]
