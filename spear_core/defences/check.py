"""What the server looks at before it believes an upload: what cannot be true is dropped.

Honest rows are means of unit vectors, so they are finite and no longer than 1; counts are whole
numbers of training nodes. Nothing here asks whether an upload is likely: that is a defence.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from spear_core.client import LARGEST_COUNT, Residuals, Uploads

ROUNDING = 1e-5  # of an energy
LONGEST = 1 + 1e-5  # a mean of unit vectors is no longer than 1; the rest is rounding


@dataclass(frozen=True)
class Rejected:
    """An upload that cannot be true, and why."""

    client: int
    label: int | None  # None: everything the client sent
    reason: str

    @property
    def sentence(self) -> str:
        what = "everything" if self.label is None else f"class {self.label}"
        return f"Dropped from client {self.client}, {what}: {self.reason}."


def check(uploads: Uploads) -> tuple[Uploads, tuple[Rejected, ...]]:
    """The uploads that can be true, with whole counts, and the others, each with the reason.

    A count of 0 can be true but says that nothing stands behind the row, so the row is left out
    without a reproach. Deferred uploads are true by construction: our own clients built them.
    """
    if uploads.source is not None:
        return uploads, ()
    bad = torch.zeros(len(uploads.client), dtype=torch.bool, device=uploads.client.device)
    found: list[tuple[int, str]] = []
    for reason, rows in _impossible(uploads):  # the first reason that applies is the one told
        found += [(row, reason) for row in (rows & ~bad).nonzero().squeeze(1).tolist()]
        bad |= rows
    rejected = tuple(
        Rejected(int(uploads.client[row]), int(uploads.label[row]), reason)
        for row, reason in sorted(found)
    )
    untrue = list(_untrue(uploads, bad))
    if untrue and uploads.residuals is not None:
        gone = torch.tensor([one.client for one in untrue], device=bad.device)
        bad |= torch.isin(uploads.client, gone)
        there = ~torch.isin(torch.arange(uploads.clients, device=bad.device), gone)
        uploads = uploads.replace(residuals=uploads.residuals.of(there))
        rejected = (*(one for one in rejected if one.client not in gone.tolist()), *untrue)
    kept = uploads.keep(~bad & (uploads.counts > 0))
    if kept.counts.is_floating_point():
        kept = kept.replace(counts=kept.counts.long())
    return kept, rejected


def check_one(
    client: int,
    labels: Any,
    counts: Any,
    prototypes: Any,
    clients: int,
    classes: int,
    features: int,
    energy: Any = None,
    sketch: Any = None,
    rank: float = 0.0,
) -> tuple[Uploads, tuple[Rejected, ...]]:
    """What one client really sent, whatever it is: the rows that can be true, and the others.

    The parts may be anything at all. The client number is the server's own knowledge, and so is
    the rank of the sketch that it asked for. Energy and sketch belong to the ridge head.
    """
    try:
        if not 0 <= client < clients:
            raise ValueError(f"clients are 0 to {clients - 1}")
        label = _whole(_numbers(labels, "labels", (None,)))
        rows = len(label)
        if rows > classes:
            raise ValueError(f"{rows} rows for {classes} classes")
        count = _numbers(counts, "counts", (rows,))
        vectors = _numbers(prototypes, "prototypes", (rows, features)).float()
        rest = None
        if energy is not None:
            rest = _rest(client, energy, sketch, clients, features, min(rows, 1))
            _check_rank(len(rest.rows), rank, count)
    except ValueError as error:
        nothing = torch.zeros(0, dtype=torch.int64, device="cpu")
        none = torch.zeros(0, features, device="cpu")
        empty = Uploads(nothing, nothing, nothing, none, clients, classes)
        return empty, (Rejected(client, None, str(error)),)
    who = torch.full((rows,), client, dtype=torch.int64, device="cpu")
    kept, rejected = check(Uploads(who, label, count, vectors, clients, classes, residuals=rest))
    if rest is not None and not len(kept.client):  # an energy of nobody is not looked at
        nobody = torch.zeros(clients, dtype=torch.bool, device="cpu")
        kept = kept.replace(residuals=rest.of(nobody))
    return kept, rejected


def join(parts: Sequence[Uploads], device: torch.device | str = "cpu") -> Uploads:
    """The uploads of several clients as one, sorted by client and class."""
    first = parts[0]
    client, label, counts, prototypes = (
        torch.cat([getattr(part, name) for part in parts]).to(device)
        for name in ("client", "label", "counts", "prototypes")
    )
    order = torch.argsort(client * first.classes + label)
    return Uploads(
        client[order],
        label[order],
        counts[order],
        prototypes[order],
        first.clients,
        first.classes,
        residuals=_joined([part.residuals for part in parts if part.residuals], device),
    )


def _joined(parts: Sequence[Residuals], device: torch.device | str) -> Residuals | None:
    """The residuals of several clients as one, sorted by client; None where nobody sent any."""
    if not parts:
        return None
    energy = torch.stack([part.energy for part in parts]).sum(0).to(device)
    rows, owner = (torch.cat([getattr(p, name) for p in parts]) for name in ("rows", "owner"))
    order = torch.argsort(owner, stable=True)
    return Residuals(energy, rows[order].to(device), owner[order].to(device))


def _rest(
    client: int, energy: Any, sketch: Any, clients: int, features: int, energies: int
) -> Residuals:
    """One client's residuals among those of all, or one sentence on why they are none.

    Who sends no row sends no energy either.
    """
    told = torch.zeros(clients, dtype=torch.float64, device="cpu")
    told[client] = _numbers(energy, "energies", (energies,)).sum()
    rows = _numbers(sketch, "sketch rows", (None, features)).float()
    return Residuals(told, rows, torch.full((len(rows),), client, device="cpu"))


def _check_rank(rows: int, rank: float, count: Tensor) -> None:
    """Raise unless a sketch has no more rows than were asked for, and than there are nodes for."""
    if rows > rank:
        raise ValueError(f"its sketch has {rows} rows and the run asks for at most {rank:g}")
    if rows and not rows <= float(count.sum()) - int((count > 0).sum()):
        raise ValueError(f"its sketch has {rows} rows, more than its counts leave room for")


def _impossible(uploads: Uploads) -> Iterator[tuple[str, Tensor]]:
    """Every reason for which a row cannot be true, with the rows it applies to, (P)."""
    client, label, counts = uploads.client, uploads.label, uploads.counts
    yield "there is no such client", (client < 0) | (client >= uploads.clients)
    yield "there is no such class", (label < 0) | (label >= uploads.classes)
    yield "its count is not a whole number", ~torch.isfinite(counts) | (counts != counts.round())
    yield "its count is negative", counts < 0
    yield "its count does not fit into 32 bits", counts > LARGEST_COUNT
    yield "its prototype is not finite", ~torch.isfinite(uploads.prototypes).all(dim=1)
    length = torch.linalg.vector_norm(uploads.prototypes, dim=1, dtype=torch.float64)
    yield "its prototype is longer than 1", length > LONGEST
    pairs = torch.stack([client, label], dim=1)
    _, place, often = pairs.unique(dim=0, return_inverse=True, return_counts=True)
    yield "it sent this class more than once", often[place] > 1


def _untrue(uploads: Uploads, bad: Tensor) -> Iterator[Rejected]:
    """The clients whose energy or sketch cannot be true: nothing they sent is believed.

    Σ n‖p‖² + ‖R‖² ≤ q ≤ Σ n holds for every honest client, over the rows that are not bad.
    """
    rest = uploads.residuals
    if rest is None:
        return
    width, holders = rest.rows.shape[1], uploads.client[~bad].unique().tolist()
    n = torch.where(bad, 0.0, uploads.counts.double())
    square = torch.where(bad, 0.0, uploads.prototypes.double().square().sum(1))
    zero = torch.zeros(uploads.clients, dtype=torch.float64, device=n.device)
    inside = torch.where(bad, 0, uploads.client)  # there may be no such client
    total, means = zero.index_add(0, inside, n), zero.index_add(0, inside, n * square)
    length = rest.lengths()
    for k in holders:
        q, most = float(rest.energy[k]), float(total[k])
        if width != uploads.features:
            yield Rejected(k, None, f"its sketch has {width} columns, not {uploads.features}")
        elif not math.isfinite(q) or not math.isfinite(float(length[k])):
            yield Rejected(k, None, "its energy or sketch is not finite")
        elif q > most * LONGEST or float(means[k] + length[k]) > q * LONGEST + ROUNDING:
            yield Rejected(k, None, "its energy cannot be true")


def _numbers(value: Any, what: str, shape: tuple[int | None, ...]) -> Tensor:
    """The value as float64 numbers of this shape, or one sentence on why it is not."""
    try:
        array = np.asarray(value.detach().cpu() if isinstance(value, Tensor) else value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise ValueError(f"its {what} are not numbers") from None
    if array.dtype.kind not in "iuf":
        raise ValueError(f"its {what} are not numbers")
    if len(array.shape) != len(shape) or any(
        want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
    ):
        wanted = tuple("any" if want is None else want for want in shape)
        raise ValueError(f"its {what} have the shape {array.shape}, not {wanted}")
    with np.errstate(all="ignore"):
        return torch.from_numpy(array.astype(np.float64))


def _whole(numbers: Tensor) -> Tensor:
    """The numbers as integers; -1, which is no class, for what is not a whole number."""
    fits = torch.isfinite(numbers) & (numbers == numbers.round()) & (numbers.abs() < 2**53)
    return torch.where(fits, numbers, -1.0).long()
