"""Every answer looked at: what can be true is kept, everyone else is named with a reason."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Message

from spear_core.client import Uploads
from spear_core.defences.check import check_one, join
from spear_core.errors import SpearError
from spear_core.federation.records import counted_bytes, record_bytes
from spear_core.federation.report import Report

PARTS = ("labels", "counts", "prototypes")
MOST_CLASSES = 100_000  # a larger label is a lie that would only fill the server's memory
NODE_UNAVAILABLE = 5  # Flower's code for a node that shows no sign of life any more


def gather(replies: Iterable[Message], asked: Mapping[str, int], report: Report) -> Uploads:
    """The checked uploads of all that answered; `asked` says whose question a message id was.

    An error that the SuperLink writes for a dead node bears the SuperLink's own id, so it is the
    question that tells who should have answered.
    """
    arrays: dict[int, dict[str, np.ndarray]] = {}
    silent = set(asked.values())
    for reply in replies:
        node = asked.get(reply.metadata.reply_to_message_id)
        if node not in silent:
            continue  # nobody asked, or it has answered before
        silent.discard(node)
        try:
            arrays[node] = _arrays(reply)
        except SpearError as error:
            drop(report, node, str(error))
            continue
        report.record_bytes += record_bytes(reply.content)
        report.counted_bytes += counted_bytes(reply.content["upload"])  # type: ignore[arg-type]
    for node in sorted(silent):
        drop(report, node, "it did not answer by the deadline")
    return _checked(arrays, sorted(asked.values()), report)


def drop(report: Report, node: int, reason: str) -> None:
    """Name a node in the report, with its reason."""
    report.dropped.append({"node": str(node), "reason": reason})


def _arrays(reply: Message) -> dict[str, np.ndarray]:
    """The three parts of an upload, or a sentence why there are none."""
    if reply.has_error():
        if reply.error.code == NODE_UNAVAILABLE:
            raise SpearError("it died or lost its connection during the run")
        raise SpearError(f"it failed: {_sentence(reply.error.reason)}")
    record = reply.content.get("upload")
    if not isinstance(record, ArrayRecord) or set(record) != set(PARTS):
        raise SpearError("its answer holds no upload")
    try:
        return {name: record[name].numpy() for name in PARTS}
    except (ValueError, TypeError, EOFError, OSError) as error:
        raise SpearError(f"its answer cannot be read ({error})") from error


def _checked(arrays: Mapping[int, dict[str, Any]], nodes: Sequence[int], report: Report) -> Uploads:
    widths = Counter(a["prototypes"].shape[-1] for a in arrays.values() if a["prototypes"].ndim)
    report.features = widths.most_common(1)[0][0] if widths else 0  # what most of them send
    report.classes = max((_classes(a["labels"]) for a in arrays.values()), default=0)
    parts = []
    for node in sorted(arrays):
        kept, rejected = check_one(
            nodes.index(node),
            **arrays[node],
            clients=len(nodes),
            classes=report.classes,
            features=report.features,
        )
        for one in rejected:
            what = "" if one.label is None else f"class {one.label}: "
            drop(report, node, f"{what}{one.reason}")
        if len(kept.client) or not rejected:  # nothing to send is an answer too
            report.answered.append(str(node))
            parts.append(kept)
    if not any(len(part.client) for part in parts):
        raise SpearError("No node sent a usable prototype; see the report for the reasons.")
    return join(parts)


def _classes(labels: np.ndarray) -> int:
    """How many classes there are at least, by these labels."""
    if labels.dtype.kind not in "iu":
        return 0
    believable = labels[(labels >= 0) & (labels < MOST_CLASSES)]
    return int(believable.max()) + 1 if believable.size else 0


def _sentence(reason: str | None) -> str:
    """What a client's error says: Flower wraps it as <class 'X'>:<'…'>."""
    wrapped = re.fullmatch(r"<class '[^']*'>:<'(.*)'>", (reason or "").strip(), re.DOTALL)
    said = " ".join((wrapped[1] if wrapped else reason or "").split())
    return said[:300] or "no reason given"
