"""Every answer looked at: what can be true is kept, everyone else is named with a reason.

A node is a stranger. Whatever it sends costs that node its place and nobody else anything: sizes
are compared with the run's C and F before anything is decoded, and any fault is a drop.
"""

import re
from collections.abc import Sequence

import numpy as np
from flwr.app import ArrayRecord, Message, MetricRecord

from spear_core.client import Uploads
from spear_core.datasets.arrays import LONGEST_HEADER, decoded
from spear_core.defences.check import check_one, join
from spear_core.errors import SpearError, one_line
from spear_core.federation.ask import Answers
from spear_core.federation.names import sketch_rank
from spear_core.federation.records import record_bytes
from spear_core.federation.report import Report
from spear_core.settings import Settings

NODE_UNAVAILABLE = 5  # Flower's code for a node that shows no sign of life any more
WIDEST = 8  # bytes of a number


def gather(answers: Answers, nodes: Sequence[int], settings: Settings, report: Report) -> Uploads:
    """The checked uploads of all nodes that were asked and answered."""
    report.classes, report.features = settings.classes, settings.features
    parts = []
    for node in nodes:
        try:
            reply = answered(answers, node)
            arrays = _arrays(reply, settings)
            kept, rejected = check_one(
                nodes.index(node),
                **arrays,
                clients=len(nodes),
                classes=settings.classes,
                features=settings.features,
                rank=sketch_rank(settings),
            )
            for one in rejected:
                what = "" if one.label is None else f"class {one.label}: "
                drop(report, node, f"{what}{one.reason}")
            report.record_bytes += record_bytes(reply.content)
            report.counted_bytes += sum(array.nbytes for array in arrays.values())
            if len(kept.client) or not rejected:  # nothing to send is an answer too
                report.answered.append(str(node))
                parts.append(kept)
                _note_limit(report, node, reply, settings)
        except SpearError as error:
            drop(report, node, str(error))
        except Exception as error:
            drop(report, node, f"its answer cannot be read ({type(error).__name__})")
    if not any(len(part.client) for part in parts):
        raise SpearError("No node sent a usable prototype; see the report for the reasons.")
    return join(parts)


def answered(answers: Answers, node: int) -> Message:
    """What a node answered, or a sentence why there is nothing."""
    reply = answers.get(node, SpearError("it did not answer by the deadline"))
    if isinstance(reply, SpearError):
        raise reply
    if reply.has_error():
        raise SpearError(refusal(reply))
    return reply


def drop(report: Report, node: int, reason: str) -> None:
    """Name a node in the report, with its reason."""
    report.dropped.append({"node": str(node), "reason": reason[:300]})


def refusal(reply: Message) -> str:
    """Why a reply holds nothing: what a client's error says, wrapped as <class 'X'>:<'…'>."""
    if reply.error.code == NODE_UNAVAILABLE:
        return "it died or lost its connection during the run"
    reason = (reply.error.reason or "").strip()
    wrapped = re.fullmatch(r"<class '[^']*'>:<'(.*)'>", reason, re.DOTALL)
    said = one_line(wrapped[1] if wrapped else reason)
    return f"it failed: {said[:250] or 'no reason given'}"


def _note_limit(report: Report, node: int, reply: Message, settings: Settings) -> None:
    """Say in the report that a node sends a smaller sketch than it was asked for."""
    said = reply.content.get("limits")
    most = said.get("max-sketch") if isinstance(said, MetricRecord) else None
    if isinstance(most, int | float) and 0 <= most < sketch_rank(settings):
        report.notes.append(f"Node {node} allows a sketch of rank {most:g} and sent no larger one.")


def _arrays(reply: Message, settings: Settings) -> dict[str, np.ndarray]:
    """The parts of an upload, or a sentence why there are none."""
    record = reply.content.get("upload")
    classes, features = settings.classes, settings.features
    most: dict[str, tuple[int, ...]]
    most = {"labels": (classes,), "counts": (classes,), "prototypes": (classes, features)}
    if settings.head == "ridge":  # no sketch has more rows than columns
        most |= {"energy": (1,), "sketch": (int(min(sketch_rank(settings), features)), features)}
    if not isinstance(record, ArrayRecord) or set(record) != set(most):
        raise SpearError("its answer holds no upload")
    arrays = {}
    for name, limits in most.items():
        data = record[name].data  # what it declares beside the bytes is not looked at
        if len(data) > WIDEST * int(np.prod(limits)) + LONGEST_HEADER:
            raise SpearError(
                f"it sent {len(data)} bytes of {name}, more than {limits} numbers need"
            )
        try:
            arrays[name] = decoded(data, limits)
        except ValueError as error:
            raise SpearError(f"its {name} cannot be read: {error}") from error
    return arrays
