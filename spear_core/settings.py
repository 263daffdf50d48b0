"""`Settings`: everything a run depends on, said once.

The same frozen dataclass is the argument of the engine, the key of every cache, the query string
of a link, the row of a sweep and the source of the command line's options.
"""

import math
import operator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from spear_core.datasets.catalogue import CATALOGUE, resolve
from spear_core.defences import DEFENCES
from spear_core.errors import SettingError

PAPER_SEEDS = (42, 0, 1, 2026, 2077)


def _setting(default: Any, help: str, symbol: str = "", **limits: Any) -> Any:
    """A field with its help text, the paper's symbol and its limits."""
    return field(default=default, metadata={"help": help, "symbol": symbol, **limits})


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on. Equal settings give equal results on the same device.

    >>> Settings(dataset="cora", gamma="inf").gamma
    inf
    """

    dataset: str = _setting("digits", "which graph: " + ", ".join(CATALOGUE))
    seed: int = _setting(
        42,
        "seed of the partition, and of the 20/40/40 node split where none is published",
        low=0,
        high=2**32 - 1,
    )
    split: int = _setting(0, "which published train/val/test split, where there are several", low=0)
    labels_per_class: int = _setting(
        0, "training nodes kept in each class, chosen at random by the seed; 0 keeps all", low=0
    )
    # how the graph is divided among the clients
    partition: str = _setting(
        "dirichlet",
        "how nodes go to clients: dirichlet (label skew β), iid (at random), louvain (communities)",
        choices=("dirichlet", "iid", "louvain"),
    )
    clients: int = _setting(10, "number of clients", symbol="K", low=1)
    beta: float = _setting(
        0.05,
        "label skew: 0.01 every client sees about one class, 10 all alike",
        symbol="β",
        above=0.0,
        high=1e6,
        hint="Use about 0.05 for extreme skew, 10 for almost none.",
    )
    # what a client computes
    alpha: float = _setting(
        0.15,
        "weight of the neighbours in [0, 1): 0 ignores the graph, near 1 ignores the node itself",
        symbol="α",
        low=0.0,
        below=1.0,
    )
    steps: int = _setting(2, "smoothing steps; 0 ignores the graph", symbol="T", low=0, high=1000)
    # what the server computes
    gamma: float = _setting(
        0.5,
        "trust in a client's own count, λ = 1/(1 + γn): 0 takes the peers alone, inf no shrinkage",
        symbol="γ",
        low=0.0,
        infinite=True,
    )
    shrinkage: bool = _setting(True, "pull prototypes towards their peers (off: λ = 0)", symbol="λ")
    count_weights: bool = _setting(
        True, "average clients by their counts (off: every client weighs the same)", symbol="n"
    )
    peers: str = _setting(
        "mean",
        "who the peers are: mean (every other holder), semantic (the more similar half of them)",
        choices=("mean", "semantic"),
    )
    reliability: str = _setting(
        "count",
        "what a prototype is trusted by: count (n), degree (n times 1 + log(1 + mean degree))",
        choices=("count", "degree"),
    )
    # noise in what the clients hold; all random draws below also depend on `draw`
    edge_noise: float = _setting(
        0.0,
        "share of edges changed: half of it deleted, half added (1: half of them and as many new)",
        symbol="ρ",
        low=0.0,
        high=1.0,
    )
    feature_noise: float = _setting(
        0.0,
        "share of features set to zero, before rows are normalised",
        symbol="η",
        low=0.0,
        high=1.0,
    )
    feature_rule: str = _setting(
        "entries",
        "which features are zeroed: entries (each by itself), half (only in every second node), "
        "nodes (all of a node's), columns (one feature of all nodes)",
        choices=("entries", "half", "nodes", "columns"),
    )
    label_noise: float = _setting(
        0.0, "share of training labels replaced by another class", low=0.0, high=1.0
    )
    noise_when: str = _setting(
        "after",
        "when edges are changed: after the split (inside each client), before it (anywhere)",
        choices=("after", "before"),
    )
    noise_test: bool = _setting(
        False, "the test graph is noisy too: the clients' edges and features put together"
    )
    draw: int = _setting(
        0, "which random draw of noise, attackers and privacy", low=0, high=2**32 - 1
    )
    # clients that lie
    attackers: str = _setting(
        "random",
        "who lies: random, smallest or largest (attacker_count of them), chosen (a list)",
        choices=("random", "smallest", "largest", "chosen"),
    )
    attacker_count: int = _setting(0, "how many clients lie", symbol="m", low=0)
    chosen: str = _setting("", "the clients that lie, by number, for example 0,3,7")
    flip: str = _setting(
        "next",
        "labels of liars: none, next (y + 1), reverse (C - 1 - y), random, pair (one to another)",
        choices=("none", "next", "reverse", "random", "pair"),
    )
    flip_from: int = _setting(0, "flip = pair: the class that is mislabelled", low=0)
    flip_to: int = _setting(1, "flip = pair: the class it is called", low=0)
    inflate: float = _setting(
        1.0, "liars multiply their counts by this", symbol="r", low=0.0, high=1e9
    )
    forge: str = _setting(
        "none",
        "prototypes of liars: none, random, negated, copy (of another class), scaled, nan",
        choices=("none", "random", "negated", "copy", "scaled", "nan"),
    )
    forge_scale: float = _setting(10.0, "forge = scaled: the factor", low=-1e9, high=1e9)
    collude: bool = _setting(False, "liars agree: the same random labels and directions for all")
    # what the server does against them
    defence: str = _setting("none", "how the server defends itself", choices=DEFENCES)
    cap_share: float = _setting(
        0.3,
        "defence = cap: largest share of a class's total count for one client",
        above=0.0,
        high=1.0,
    )
    trim: float = _setting(
        0.2, "defence = trimmed: share cut off at either end", low=0.0, below=0.5
    )
    expected_attackers: int = _setting(
        3, "how many liars the server reckons with (krum, multi-krum)", symbol="f", low=0
    )
    # what a client does to keep its nodes private
    epsilon: float = _setting(
        math.inf,
        "privacy budget of the one upload; inf adds no noise",
        symbol="ε",
        low=1e-6,
        infinite=True,
        hint="Use about 1 for strong privacy, inf for none.",
    )
    delta: float = _setting(
        1e-5,
        "probability with which the guarantee may fail (gaussian)",
        symbol="δ",
        low=1e-100,
        below=1.0,
        hint="Use far less than one over the number of nodes, for example 1e-5.",
    )
    mechanism: str = _setting(
        "gaussian", "which noise: gaussian, laplace", choices=("gaussian", "laplace")
    )
    # where it runs
    device: str = _setting(
        "auto", "where tensors live: auto, cpu, cuda, mps", choices=("auto", "cpu", "cuda", "mps")
    )
    # the synthetic graph (a contextual block model); other datasets ignore these
    nodes: int = _setting(2000, "synthetic: number of nodes", symbol="N", low=2, high=10**7)
    degree: float = _setting(10.0, "synthetic: mean number of neighbours", low=0.0, high=1000.0)
    classes: int = _setting(5, "synthetic: number of classes", symbol="C", low=2, high=1000)
    features: int = _setting(64, "synthetic: number of features", symbol="F", low=1, high=10**5)
    homophily: float = _setting(
        0.8, "synthetic: share of edges inside a class, in [0, 1]", low=0.0, high=1.0
    )
    strength: float = _setting(
        0.3, "synthetic: length of a class mean in units of a node's noise", low=0.0, high=1000.0
    )

    def __post_init__(self) -> None:
        for f in fields(self):
            value = _checked(f.name, f.type, getattr(self, f.name), f.metadata)
            object.__setattr__(self, f.name, value)
        object.__setattr__(self, "dataset", resolve(self.dataset))
        object.__setattr__(self, "chosen", _client_list(self.chosen))
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


def defaults(dataset: str) -> Settings:
    """The settings to start from on a dataset: the paper's, with fewer clients for a tiny graph."""
    name = resolve(dataset)
    return Settings(dataset=name, clients=CATALOGUE[name].clients)


def checked(name: str, value: Any) -> Any:
    """One value as Settings would take it; cheaper than making all of them."""
    (f,) = (f for f in fields(Settings) if f.name == name)
    return _checked(name, f.type, value, f.metadata)


def _checked(name: str, kind: Any, value: Any, rule: Any) -> Any:
    """The value in its declared type, or one sentence that says what to give instead."""
    kind = kind if isinstance(kind, str) else kind.__name__
    if kind == "str":
        if not isinstance(value, str):
            raise SettingError(f"{name} must be a word, got {value!r}.")
        if "choices" in rule and value not in rule["choices"]:
            raise SettingError(f"{name} must be one of {', '.join(rule['choices'])}, got {value}.")
        return value
    if kind == "bool":
        if not isinstance(value, bool):
            raise SettingError(f"{name} must be true or false, got {value!r}.")
        return value
    number = _whole(name, value) if kind == "int" else _real(name, value)
    _within(name, number, rule)
    return number


def _client_list(text: str) -> str:
    """Client numbers in order, each once: `"7, 3,3"` becomes `"3,7"`."""
    try:
        numbers = {int(part) for part in text.split(",") if part.strip()}
        if min(numbers, default=0) < 0:
            raise ValueError
    except ValueError:
        raise SettingError(
            f"chosen must be client numbers, as in 0,3,7, got {text[:40]!r}."
        ) from None
    return ",".join(str(k) for k in sorted(numbers))


def _whole(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return int(value) if isinstance(value, str) else operator.index(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name} must be a whole number, got {str(value)[:40]!r}.") from None


def _real(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{name} must be a number, got {str(value)[:40]!r}.") from None


def _within(name: str, number: float, rule: Any) -> None:
    low, above = rule.get("low", -math.inf), rule.get("above", -math.inf)
    high, below = rule.get("high", math.inf), rule.get("below", math.inf)
    endless = number == math.inf and not rule.get("infinite")
    if number != number or endless:
        wanted = "a finite number"
    elif number < low:
        wanted = f"at least {low:g}"
    elif number <= above:
        wanted = f"above {above:g}"
    elif number > high:
        wanted = f"at most {high}"
    elif number >= below and "below" in rule:
        wanted = f"below {below:g}"
    else:
        return
    hint = f" {rule['hint']}" if "hint" in rule else ""
    got = f"{number:g}" if isinstance(number, float) else _brief(number)
    raise SettingError(f"{name} must be {wanted}, got {got}.{hint}")


def _brief(number: int) -> str:
    return str(number) if abs(number) < 10**15 else "a far larger number"
