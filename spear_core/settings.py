"""`Settings`: everything a run depends on, said once.

The same frozen dataclass is the argument of the engine, the key of every cache, the query string
of a link, the row of a sweep and the source of the command line's options. What people read of a
setting (label, symbol, unit, how a value is written) is in its field too, by the functions below.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from spear_core.datasets.catalogue import CATALOGUE, resolve
from spear_core.defences import DEFENCES
from spear_core.errors import SettingError
from spear_core.fields import all_at_zero, capital, checked, name_of, setting, spaced, times
from spear_core.lance import knobs

PAPER_SEEDS, PARTITIONS = (42, 0, 1, 2026, 2077), ("dirichlet", "iid", "louvain", "owner")
MOST_CLIENTS, MOST_LINKED, MOST_CLASSES = 10**5, 1000, 1000  # clients: at all, in a link


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on. Equal settings give equal results on the same device.

    >>> Settings(dataset="cora", gamma="inf").gamma
    inf
    """

    # fmt: off
    dataset: str = setting("digits", ", ".join(CATALOGUE.public), label="dataset", stages="load")
    seed: int = setting(
        42, "of the partition, and of the 20/40/40 node split where none is published",
        label="seed", stages="load split spoil mislabel", low=0, high=2**32 - 1)
    split: int = setting(
        0, "of train/val/test nodes, where there are several",
        label="published split", stages="load", low=0, high=1000)
    labels_per_class: int = setting(
        0, "chosen at random by the seed; 0 keeps all", label="training labels kept a class",
        stages="load", form=all_at_zero, low=0, high=10**7)
    # how the graph is divided among the clients
    partition: str = setting(
        "dirichlet", "dirichlet (label skew β), iid (at random), louvain (communities), owner",
        label="how nodes go to clients", stages="split", choices=PARTITIONS)
    clients: int = setting(
        10, "how many there are", "K", label="clients", stages="split",
        low=1, high=MOST_CLIENTS, link_high=MOST_LINKED)
    beta: float = setting(
        0.05, "0.01 every client sees about one class, 10 all alike", "β",
        label="label skew", stages="split",
        above=0.0, high=1e6, hint="Use about 0.05 for extreme skew, 10 for almost none.")
    # what a client computes
    alpha: float = setting(
        0.15, "in [0, 1), 0 ignores the graph, near 1 ignores the node itself", "α",
        label="weight of the neighbours", low=0.0, below=1.0)
    steps: int = setting(
        2, "0 ignores the graph", "T", label="smoothing steps", low=0, high=1000, link_high=100)
    # what the server computes
    gamma: float = setting(
        0.5, "λ = 1/(1 + γn), 0 takes the peers alone, inf does not shrink", "γ",
        label="trust in own counts", low=0.0, high=1e9, infinite=True)
    shrinkage: bool = setting(
        True, "pulls prototypes towards their peers (off: λ = 0)", label="shrinkage")
    count_weights: bool = setting(
        True, "every client weighs the same where it is off", label="weigh clients by their counts")
    peers: str = setting(
        "mean", "mean (every other holder), semantic (the more similar half of them)",
        label="who the peers are", choices=("mean", "semantic"))
    reliability: str = setting(
        "count", "count (n), degree (n times 1 + log(1 + mean degree))",
        label="what a prototype is trusted by", choices=("count", "degree"))
    # where LANCE goes beyond the paper (lance/knobs.py)
    smoothing: str = knobs.smoothing
    gate: float = knobs.gate
    gate_alpha: float = knobs.gate_alpha
    gate_steps: int = knobs.gate_steps
    test_alpha: float = knobs.test_alpha
    test_steps: int = knobs.test_steps
    head: str = knobs.head
    sketch: float = knobs.sketch
    ridge: float = knobs.ridge
    sketch_cap: bool = knobs.sketch_cap
    # noise in what the clients hold; all random draws below also depend on `draw`
    edge_noise: float = setting(
        0.0, "half of it deleted, half added (1: half of them and as many new)", "ρ",
        label="edges changed", stages="spoil", unit="share", low=0.0, high=1.0)
    feature_noise: float = setting(
        0.0, "set to 0 before rows are normalised", "η",
        label="features zeroed", stages="spoil", unit="share", low=0.0, high=1.0)
    feature_rule: str = setting(
        "entries", "entries (each by itself), half (only in every second node), "
        "nodes (all of a node's), columns (one feature of all nodes)",
        label="what is zeroed", stages="spoil", choices=("entries", "half", "nodes", "columns"))
    label_noise: float = setting(
        0.0, "by another class", label="training labels replaced", stages="mislabel", unit="share",
        low=0.0, high=1.0)
    noise_when: str = setting(
        "after", "after the split (inside each client), before it (anywhere)",
        label="edges change", stages="spoil", choices=("after", "before"))
    noise_test: bool = setting(
        False, "tested on the clients' edges and features put together", label="noisy test graph",
        stages="test")
    draw: int = setting(
        0, "another number, other random noise, attackers and privacy",
        label="draw", stages="spoil mislabel", low=0, high=2**32 - 1)
    # clients that lie
    attackers: str = setting(
        "random", "random, smallest, largest (by nodes) or most-training-nodes (attacker_count of "
        "them), chosen (a list)", label="who lies", form=spaced,
        choices=("random", "smallest", "largest", "most-training-nodes", "chosen"))
    attacker_count: int = setting(
        0, "of the clients, unless they are chosen", "m", label="how many lie",
        low=0, high=MOST_CLIENTS)
    chosen: str = setting(
        "", "by number, for example 0,3,7", label="clients that lie",
        numbers_below=MOST_CLIENTS, link_below=MOST_LINKED)
    flip: str = setting(
        "next", "none, next (y + 1), reverse (C - 1 - y), random, pair (one to another)",
        label="labels of liars", choices=("none", "next", "reverse", "random", "pair"))
    flip_from: int = setting(
        0, "the class that is mislabelled (flip = pair)", label="flipped from",
        low=0, high=MOST_CLASSES)
    flip_to: int = setting(
        1, "the class it is called (flip = pair)", label="flipped to", low=0, high=MOST_CLASSES)
    inflate: float = setting(
        1.0, "1 leaves them true", "r", label="factor on the counts of liars", form=times,
        low=0.0, high=1e9)
    forge: str = setting(
        "none", "none, random, negated, copy (of another class), scaled, nan",
        label="prototypes of liars",
        choices=("none", "random", "negated", "copy", "scaled", "nan"))
    forge_scale: float = setting(
        10.0, "where forge = scaled", label="factor on the prototypes of liars", form=times,
        low=-1e9, high=1e9)
    collude: bool = setting(
        False, "the same random labels and directions for all", label="liars collude")
    # what the server does against them
    defence: str = setting(
        "none", "how the server defends itself", label="defence", choices=DEFENCES)
    cap_share: float = setting(
        0.3, "of its total count, for one client (defence = cap)",
        label="largest share of a class", above=0.0, high=1.0)
    trim: float = setting(
        0.2, "of the values of a coordinate (defence = trimmed)",
        label="cut off at either end", unit="share", low=0.0, below=0.5)
    expected_attackers: int = setting(
        3, "by the server (krum, multi-krum)", "f", label="liars reckoned with",
        low=0, high=MOST_CLIENTS)
    # what a client does to keep its nodes private
    epsilon: float = setting(
        math.inf, "of the one upload; inf adds no noise", "ε", label="privacy budget",
        low=1e-6, high=1e12, infinite=True, hint="Use about 1 for strong privacy, inf for none.")
    delta: float = setting(
        1e-5, "where the noise is gaussian", "δ", label="chance that it fails", low=1e-100,
        below=1.0, hint="Use far less than one over the number of nodes, for example 1e-5.")
    mechanism: str = setting(
        "gaussian", "gaussian, laplace", label="privacy noise", choices=("gaussian", "laplace"))
    # where it runs
    device: str = setting(
        "auto", "where tensors live: auto, cpu, cuda, mps",
        label="device", choices=("auto", "cpu", "cuda", "mps"))
    # the synthetic graph (a contextual block model); other datasets ignore these
    nodes: int = setting(
        2000, "of the synthetic graph", "N", label="nodes", stages="load",
        low=2, high=10**7, link_high=200_000)
    degree: float = setting(
        10.0, "in the synthetic graph",
        label="mean number of neighbours", stages="load", low=0.0, high=1000.0, link_high=50.0)
    classes: int = setting(
        5, "of the synthetic graph", "C", label="classes", stages="load",
        low=2, high=MOST_CLASSES, link_high=100)
    features: int = setting(
        64, "of the synthetic graph", "F", label="features", stages="load",
        low=1, high=10**5, link_high=2000)
    homophily: float = setting(
        0.8, "of the synthetic graph, in [0, 1]",
        label="homophily", stages="load", unit="share of edges inside a class", low=0.0, high=1.0)
    strength: float = setting(
        0.3, "length of a class mean in the synthetic graph",
        label="how far apart the classes are", stages="load", unit="in a node's noise",
        low=0.0, high=1000.0)
    # fmt: on

    def __post_init__(self) -> None:
        for f in fields(self):
            value = checked(f.name, f.type, getattr(self, f.name), f.metadata)
            object.__setattr__(self, f.name, value)
        object.__setattr__(self, "dataset", resolve(self.dataset))
        if self.dataset == "synthetic" and self.classes > self.nodes:
            raise SettingError(
                f"classes must be at most nodes, got {self.classes} classes for {self.nodes} nodes."
            )
        if self.dataset == "synthetic" and self.nodes * self.features > 2 * 10**9:
            raise SettingError(
                f"nodes times features must be at most 2 billion, got {self.nodes} times "
                f"{self.features}; use fewer of one."
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that survive JSON and a link: an infinite number becomes `"inf"`."""
        return {k: "inf" if v == math.inf else v for k, v in asdict(self).items()}


FIELDS = {f.name: f for f in fields(Settings)}


def defaults(dataset: str) -> Settings:
    """The settings to start from on a dataset: the paper's, with fewer clients for a tiny graph."""
    name = resolve(dataset)
    return Settings(dataset=name, clients=CATALOGUE[name].clients)


def taken(name: str, value: Any) -> Any:
    """One value as Settings would take it; cheaper than making all of them."""
    return checked(name, FIELDS[name].type, value, FIELDS[name].metadata)


def named(name: str) -> str:
    """What a setting is called, on an axis or in a sentence: `β, label skew`."""
    return name_of(FIELDS[name])


def titled(name: str) -> str:
    """Its name above a control: with a capital, unless a symbol comes first."""
    return named(name) if FIELDS[name].metadata["symbol"] else capital(named(name))


def told(name: str) -> str:
    """What it does, beside a control that has its title."""
    return capital(FIELDS[name].metadata["help"])


def choices(name: str) -> tuple[str, ...]:
    """The words it takes."""
    return FIELDS[name].metadata["choices"]


def symbol(name: str) -> str:
    """Its symbol, or its label where it has none."""
    return FIELDS[name].metadata["symbol"] or FIELDS[name].metadata["label"]


def written(name: str, value: Any) -> str:
    """A value of it for people to read: `∞`, `0.05`, `× 10`, `all`, `on`."""
    return FIELDS[name].metadata["form"](value)


def equation(name: str, value: Any) -> str:
    """Its symbol and a value: `γ = ∞`."""
    return f"{symbol(name)} = {written(name, value)}"
