"""The server side: wait for nodes, ask once, check every answer, estimate, report."""

import time
from pathlib import Path
from typing import Any

from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid, ServerApp

from spear_core.errors import SpearError
from spear_core.federation.gather import gather
from spear_core.federation.names import RUN_SETTINGS, offered
from spear_core.federation.records import run_settings, settings_record
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
    print("\n".join([*report.lines(), f"Report in {folder}"]))
    if made is None:
        raise SpearError(report.failure)


def federate(grid: Grid, settings: Settings, config: Any, report: Report) -> Estimate:
    """Ask every node once and make the estimate from those that answered in time."""
    offered(settings)
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
    asked = {one.metadata.message_id: one.metadata.dst_node_id for one in messages}
    uploads = gather(replies, asked, report)
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
        if not isinstance(metrics, MetricRecord):
            continue
        right, wrong = metrics.get("right"), metrics.get("wrong")
        if isinstance(right, int) and isinstance(wrong, int) and min(right, wrong) >= 0:
            report.right += right
            report.wrong += wrong
    report.seconds["evaluate"] = time.perf_counter() - start
