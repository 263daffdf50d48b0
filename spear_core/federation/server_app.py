"""The server side: wait for nodes, ask once, check every answer, estimate, report."""

import math
import time
import traceback
from pathlib import Path
from typing import Any

from flwr.app import Context, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid, ServerApp

from spear_core.client import LARGEST_COUNT
from spear_core.errors import SpearError
from spear_core.federation.ask import ask
from spear_core.federation.gather import answered, gather
from spear_core.federation.model import model_arrays
from spear_core.federation.names import RUN_SETTINGS, SHAPE, offered
from spear_core.federation.records import array_record, run_settings, settings_record
from spear_core.federation.report import Report, write_report
from spear_core.lance.gate import private_notes
from spear_core.server import Estimate, estimate, head_notes
from spear_core.settings import Settings

app = ServerApp()
POLL = 0.2  # seconds between two looks for nodes
EXACT = (
    "The clients were not asked to test: with a finite ε an exact count would tell more of their "
    "nodes than was promised."
)


@app.main()
def main(grid: Grid, context: Context) -> None:
    """One run. Its report is written also when it fails, whatever fails, and then the run fails."""
    config = context.run_config
    folder, report = Path(str(config["out"])).expanduser(), Report({})
    made: Estimate | None = None
    try:
        settings = run_settings(config)
        told = settings.to_dict()
        report.settings = {name: told[name] for name in (*RUN_SETTINGS, *SHAPE)}
        made = federate(grid, settings, config, report)
    except SpearError as error:
        report.failure = str(error)
    except Exception as error:
        traceback.print_exc()
        report.failure = f"An unexpected {_kind(error)}; the log of the SuperLink tells more."
    except BaseException as error:  # the run is ended from outside, and goes on being ended
        report.failure = f"The run was ended by {_kind(error)}."
        raise
    finally:
        arrays = model_arrays(made) if made else None
        if made and arrays is not None:
            arrays = {"prototypes": made.prototypes.cpu().numpy(), **arrays}
        write_report(folder, report, arrays)
        print("\n".join([*report.lines(), f"Report in {folder}"]))
    if made is None:
        raise SpearError(report.failure)


def federate(grid: Grid, settings: Settings, config: Any, report: Report) -> Estimate:
    """Ask every node once and make the estimate from those that answered in time."""
    offered(settings)
    report.notes += private_notes(settings)
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
    answers = ask(grid, messages, float(config["answer-deadline"]))
    report.seconds["upload"] = time.perf_counter() - start
    uploads = gather(answers, nodes, settings, report)
    if len(report.answered) < max(1, int(config["quorum"])):
        raise SpearError(
            f"Only {len(report.answered)} usable answers came within "
            f"{config['answer-deadline']} s and {config['quorum']} are needed; see the report."
        )
    start = time.perf_counter()
    made = estimate(uploads, settings)
    report.rows = len(uploads.client)
    report.sketch_rows = 0 if uploads.residuals is None else len(uploads.residuals.rows)
    report.notes.extend(head_notes(made, settings))
    report.seconds["estimate"] = time.perf_counter() - start
    if config["evaluate"] and settings.epsilon < math.inf:
        report.notes.append(EXACT)
    elif config["evaluate"]:
        try:
            _evaluate(grid, settings, made, report, float(config["answer-deadline"]))
        except Exception as error:  # the estimate is there all the same
            traceback.print_exc()
            report.notes.append(f"The clients did not test: an unexpected {_kind(error)}.")
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
    """Send the estimate back; every client answers with how many it gets right and wrong."""
    start = time.perf_counter()
    given = array_record(model_arrays(made))
    content = RecordDict({"settings": settings_record(settings), "model": given})
    messages = [
        Message(content, dst_node_id=int(node), message_type="evaluate") for node in report.answered
    ]
    answers = ask(grid, messages, deadline)
    for node in sorted(int(node) for node in report.answered):
        try:
            right, wrong = _counted(answered(answers, node))
        except Exception as error:
            said = str(error) if isinstance(error, SpearError) else _kind(error)
            report.notes.append(f"Node {node} did not test: {said}.")
            continue
        report.right = (report.right or 0) + right
        report.wrong = (report.wrong or 0) + wrong
    report.seconds["evaluate"] = time.perf_counter() - start


def _counted(reply: Message) -> tuple[int, int]:
    """How many of its nodes a client got right and wrong, or a sentence why it does not say."""
    metrics = reply.content.get("metrics")
    assert isinstance(metrics, MetricRecord)
    right, wrong = metrics["right"], metrics["wrong"]
    if not (isinstance(right, int) and isinstance(wrong, int) and min(right, wrong) >= 0):
        raise SpearError("it sent no two counts")
    if max(right, wrong) > LARGEST_COUNT:
        raise SpearError("its counts do not fit into 32 bits")
    return right, wrong


def _kind(error: BaseException) -> str:
    return type(error).__name__
