"""Clients that lie: who they are, their labels (Partition → Partition), their uploads.

Every random draw is made for all clients and nodes alike, from a generator of its own, so that one
more liar changes nothing in what the others do.
"""

import torch
from torch import Tensor

from spear_core.client import LARGEST_COUNT, Residuals, Uploads
from spear_core.partition import Partition
from spear_core.randomness import generator
from spear_core.settings import Settings


def attackers(partition: Partition, settings: Settings) -> tuple[int, ...]:
    """The clients that lie, by number; nobody by default.

    Smallest and largest go by the nodes held, trained on or not; `most-training-nodes` by those
    that make prototypes. The lower number goes first among equals. With the same draw, three random
    liars are two random liars and one more.
    """
    clients = range(partition.clients)
    count = min(settings.attacker_count, partition.clients)
    if settings.attackers == "chosen":
        named = {int(part) for part in settings.chosen.split(",") if part}
        return tuple(k for k in clients if k in named)
    if settings.attackers == "random":
        rng = generator(settings.seed, f"attackers {settings.draw}")
        return tuple(sorted(rng.permutation(partition.clients)[:count].tolist()))
    trained = settings.attackers == "most-training-nodes"
    size = (partition.train_counts.sum(1) if trained else partition.sizes).tolist()
    sign = 1 if settings.attackers == "smallest" else -1
    return tuple(sorted(sorted(clients, key=lambda k: sign * size[k])[:count]))


def poison(partition: Partition, settings: Settings, liars: tuple[int, ...]) -> Partition:
    """The partition with the training labels of the liars flipped; itself without liars."""
    graph = partition.graph
    if not liars or settings.flip == "none" or graph.classes < 2:
        return partition
    theirs = torch.isin(partition.owner, torch.tensor(liars, device=graph.device)) & graph.train
    y = torch.where(theirs, _flipped(graph.y, graph.classes, settings), graph.y)
    return partition.replace(graph=graph.replace(y=y))


def forge(uploads: Uploads, settings: Settings, liars: tuple[int, ...]) -> Uploads:
    """The uploads with what the liars forge in theirs; themselves without liars."""
    if not liars or (settings.forge == "none" and settings.inflate == 1):
        return uploads
    theirs = torch.isin(uploads.client, torch.tensor(liars, device=uploads.client.device))
    if not bool(theirs.any()):
        return uploads
    claimed = (uploads.counts.double() * settings.inflate).round().clamp(max=LARGEST_COUNT)
    counts = torch.where(theirs, claimed.to(uploads.counts.dtype), uploads.counts)
    prototypes = uploads.prototypes.clone()
    if settings.forge != "none":
        rows = theirs.nonzero().squeeze(1)
        prototypes[rows] = _forged(uploads, rows, settings)
    rest = believable(uploads, counts, prototypes, theirs)
    return uploads.replace(counts=counts, prototypes=prototypes, residuals=rest)


def believable(
    uploads: Uploads, counts: Tensor, prototypes: Tensor, theirs: Tensor
) -> Residuals | None:
    """The residuals with those of liars made to fit their forged rows: a liar knows the checks.

    What is left of q beyond the means is scaled by the claimed counts, as far as q ≤ Σ n allows.
    """
    own = uploads.residuals
    if own is None:
        return None

    def by_client(values: Tensor) -> Tensor:
        return torch.zeros_like(own.energy).index_add_(0, uploads.client, values.double())

    lying = by_client(theirs) > 0
    before, after = by_client(uploads.counts), by_client(counts)
    was = (uploads.counts * uploads.prototypes.double().square().sum(1)).nan_to_num()
    now = (counts * prototypes.double().square().sum(1)).nan_to_num()
    rest = (own.energy - by_client(was)).clamp_min(0)
    claimed = torch.minimum(rest * after / before.clamp_min(1), after - by_client(now)).clamp_min(0)
    scale = torch.where(lying & (rest > 0), claimed / rest.clamp_min(1e-300), 1.0)
    energy = torch.where(lying, by_client(now) + claimed, own.energy)
    rows = (own.rows * scale.sqrt()[own.owner, None]).to(own.rows.dtype)
    return Residuals(energy, rows, own.owner)


def attack_notes(partition: Partition, settings: Settings) -> tuple[str, ...]:
    """What of the attack cannot be done on this graph, one sentence each."""
    said = []
    named = [int(part) for part in settings.chosen.split(",") if part]
    absent = [str(k) for k in named if k >= partition.clients]
    if settings.attackers == "chosen" and absent:
        said.append(
            f"Chosen to lie but not there: client {', '.join(absent[:8])} "
            f"(clients are 0 to {partition.clients - 1})."
        )
    last = partition.graph.classes - 1
    if settings.flip == "pair" and attackers(partition, settings):
        said += [
            f"{name} = {value} is not a class of this graph (0 to {last}), so no label is flipped."
            for name, value in (("flip_from", settings.flip_from), ("flip_to", settings.flip_to))
            if value > last
        ]
    return tuple(said)


def _flipped(y: Tensor, classes: int, settings: Settings) -> Tensor:
    """What a liar calls every node, (N).

    Random: every node another class by itself; colluding: one wrong class for each true class.
    """
    if settings.flip == "next":
        return (y + 1) % classes
    if settings.flip == "reverse":
        return classes - 1 - y
    if settings.flip == "pair":
        there = max(settings.flip_from, settings.flip_to) < classes
        target = torch.full_like(y, settings.flip_to if there else 0)
        return torch.where((y == settings.flip_from) & there, target, y)
    rng = generator(settings.seed, f"flip {settings.draw}")
    shift = rng.integers(1, classes, size=classes if settings.collude else len(y))
    step = torch.as_tensor(shift, device=y.device)
    return (y + (step[y] if settings.collude else step)) % classes


def _forged(uploads: Uploads, rows: Tensor, settings: Settings) -> Tensor:
    """What the liars send instead of the prototypes in these rows, (rows, F)."""
    own = uploads.prototypes[rows]
    if settings.forge == "negated":
        return -own
    if settings.forge == "scaled":
        return own * settings.forge_scale
    if settings.forge == "nan":
        return torch.full_like(own, torch.nan)
    if settings.forge == "copy":
        return uploads.prototypes[_next_class(uploads, rows)]
    pairs = zip(uploads.client[rows].tolist(), uploads.label[rows].tolist(), strict=True)
    drawn = [_direction(settings, client, label, uploads.features) for client, label in pairs]
    return torch.stack(drawn).to(own)


def _direction(settings: Settings, client: int, label: int, width: int) -> Tensor:
    """A random unit vector for one client and class; colluding clients share one for a class."""
    who = "all" if settings.collude else client
    rng = generator(settings.seed, f"forge {settings.draw} {who} {label}")
    return torch.nn.functional.normalize(torch.from_numpy(rng.standard_normal(width)), dim=0)


def _next_class(uploads: Uploads, rows: Tensor) -> Tensor:
    """For every one of these rows the row it copies: the next class's largest honest upload.

    A liar seldom holds a second class itself, so it is taken to have seen the others' uploads.
    """
    honest = uploads.counts.clone()
    honest[rows] = 0  # a liar's own row only where a class has no other
    held = uploads.label.unique()  # ascending
    best = torch.stack([torch.where(uploads.label == c, honest, -1).argmax() for c in held])
    return best[(torch.searchsorted(held, uploads.label[rows]) + 1) % len(held)]
