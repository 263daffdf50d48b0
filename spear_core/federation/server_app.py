"""The server side: wait for nodes, ask once, check every answer, estimate, report."""

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid, ServerApp

from spear_core.check import check_one, join
from spear_core.client import Uploads
from spear_core.errors import SpearError
from spear_core.federation.names import RUN_SETTINGS
from spear_core.federation.records import (
    counted_bytes,
    record_bytes,
    run_settings,
    settings_record,
)
from spear_core.federation.report import Report, write_report
from spear_core.server import Estimate, estimate
from spear_core.settings import Settings

app = ServerApp()
POLL = 0.2  # seconds between two looks for nodes


@app.main()
def main(grid: Grid, context: Context) -> None:
    """One run. Its report is written also when it fails, and then the run fails."""
    config = context.run_config
    settings = run_settings(config)
    report = Report({name: settings.to_dict()[name] for name in RUN_SETTINGS})
    folder = Path(str(config["out"])).expanduser()
    made: Estimate | None = None
    try:
        made = federate(grid, settings, config, report)
    except SpearError as error:
        report.failure = str(error)
    write_report(folder, report, made.prototypes.cpu().numpy() if made else None)
    print(_summary(report, folder))
    if made is None:
        raise SpearError(report.failure)


def federate(grid: Grid, settings: Settings, config: Any, report: Report) -> Estimate:
    """Ask every node once and make the estimate from those that answered in time."""
    start = time.perf_counter()
    nodes = wait_for_nodes(grid, int(config["min-nodes"]), float(config["join-deadline"]))
    report.asked = [str(node) for node in nodes]
    report.seconds["join"] = time.perf_counter() - start
    if len(nodes) < int(config["quorum"]):
        raise SpearError(
            f"Only {len(nodes)} nodes joined within {config['join-deadline']} s and "
            f"{config['quorum']} are needed; start more, or lower quorum."
        )
    start = time.perf_counter()
    question = RecordDict({"settings": settings_record(settings)})
    messages = [Message(question, dst_node_id=n, message_type="query.upload") for n in nodes]
    replies = list(grid.send_and_receive(messages, timeout=float(config["answer-deadline"])))
    report.seconds["upload"] = time.perf_counter() - start
    uploads = gather(replies, nodes, report)
    if len(report.answered) < max(1, int(config["quorum"])):
        raise SpearError(
            f"Only {len(report.answered)} usable answers came within "
            f"{config['answer-deadline']} s and {config['quorum']} are needed; see the report."
        )
    start = time.perf_counter()
    made = estimate(uploads, settings)
    report.rows = len(uploads.client)
    report.seconds["estimate"] = time.perf_counter() - start
    if config["evaluate"]:
        _evaluate(grid, settings, made, report, float(config["answer-deadline"]))
    return made


def wait_for_nodes(grid: Grid, wanted: int, deadline: float) -> list[int]:
    """The nodes that have joined, in the order of their ids: enough of them, or at the deadline."""
    end = time.monotonic() + deadline
    while True:
        nodes = sorted(grid.get_node_ids())
        if len(nodes) >= wanted or time.monotonic() >= end:
            return nodes
        time.sleep(POLL)


def gather(replies: Iterable[Message], nodes: list[int], report: Report) -> Uploads:
    """The checked uploads of all that answered; the report names everyone else with a reason."""
    sent: dict[int, ArrayRecord] = {}
    silent = set(nodes)
    for reply in replies:
        node = reply.metadata.src_node_id
        silent.discard(node)
        if reply.has_error():
            _drop(report, node, f"it failed: {_last_line(reply.error.reason)}")
        elif not isinstance(reply.content.get("upload"), ArrayRecord):
            _drop(report, node, "its answer holds no upload")
        else:
            sent[node] = reply.content["upload"]  # type: ignore[assignment]
            report.record_bytes += record_bytes(reply.content)
            report.counted_bytes += counted_bytes(sent[node])
    for node in sorted(silent):
        _drop(report, node, "it did not answer by the deadline")
    return _checked(sent, nodes, report)


def _checked(sent: dict[int, ArrayRecord], nodes: list[int], report: Report) -> Uploads:
    arrays = {node: _arrays(record) for node, record in sent.items()}
    widths = Counter(a["prototypes"].shape[-1] for a in arrays.values() if a["prototypes"].ndim)
    report.features = widths.most_common(1)[0][0] if widths else 0  # what most of them send
    labels = [int(a["labels"].max()) for a in arrays.values() if a["labels"].size]
    report.classes = max(labels, default=-1) + 1
    parts = []
    for node in sorted(arrays):
        client = nodes.index(node)
        kept, rejected = check_one(
            client,
            **arrays[node],
            clients=len(nodes),
            classes=report.classes,
            features=report.features,
        )
        for one in rejected:
            what = "" if one.label is None else f"class {one.label}: "
            _drop(report, node, f"{what}{one.reason}")
        if len(kept.client) or not rejected:  # nothing to send is an answer too
            report.answered.append(str(node))
            parts.append(kept)
    if not any(len(part.client) for part in parts):
        raise SpearError("No node sent a usable prototype; see the report for the reasons.")
    return join(parts)


def _arrays(record: ArrayRecord) -> dict[str, Any]:
    return {name: record[name].numpy() for name in ("labels", "counts", "prototypes")}


def _evaluate(
    grid: Grid, settings: Settings, made: Estimate, report: Report, deadline: float
) -> None:
    """Send the prototypes back; every client answers with how many it gets right and wrong."""
    start = time.perf_counter()
    content = RecordDict(
        {
            "settings": settings_record(settings),
            "prototypes": ArrayRecord({"prototypes": Array(made.prototypes.cpu().numpy())}),
        }
    )
    messages = [
        Message(content, dst_node_id=int(node), message_type="evaluate") for node in report.answered
    ]
    report.right = report.wrong = 0
    for reply in grid.send_and_receive(messages, timeout=deadline):
        metrics = None if reply.has_error() else reply.content.get("metrics")
        if isinstance(metrics, MetricRecord):
            report.right += int(metrics["right"])  # type: ignore[arg-type]
            report.wrong += int(metrics["wrong"])  # type: ignore[arg-type]
    report.seconds["evaluate"] = time.perf_counter() - start


def _drop(report: Report, node: int, reason: str) -> None:
    report.dropped.append({"node": str(node), "reason": reason})


def _last_line(text: str | None) -> str:
    """The sentence at the end of a traceback."""
    lines = [line for line in (text or "").strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no reason given"


def _summary(report: Report, folder: Path) -> str:
    if report.failure:
        return f"SPEAR failed: {report.failure} Report in {folder}."
    own = f", {100 * report.accuracy:.2f} % right at home" if report.accuracy is not None else ""
    return (
        f"SPEAR: {len(report.answered)} of {len(report.asked)} nodes answered, "
        f"{report.rows} prototypes{own}. Report in {folder}."
    )
