"""The client side: answer one question with what the estimator asks for, and nothing else."""

import math
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from spear_core.classify import classify
from spear_core.client import Uploads, upload
from spear_core.datasets.arrays import decoded
from spear_core.errors import SpearError
from spear_core.federation.files import read_client
from spear_core.federation.limits import allow, limited, private
from spear_core.federation.model import model, shapes
from spear_core.federation.names import sketch_rank
from spear_core.federation.records import client_settings, upload_record
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.server import Estimate
from spear_core.settings import Settings
from spear_core.transforms.privacy import privatise

app = ClientApp()
Step = Callable[[Message, Context], Message]
# kept in the node's own state: a run gets one upload, and is tested once
SENT, TESTED = "spear-sent", "spear-tested"


def local_uploads(graph: Graph, settings: Settings, secret: int | None = None) -> Uploads:
    """The engine's client step on one client's own graph; a secret seeds its privacy noise."""
    owner = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    return privatise(upload(Partition(graph, owner, clients=1), settings), settings, secret)


def fitted(graph: Graph, settings: Settings) -> Graph:
    """A client's graph with the classes of the run, or one sentence if it does not fit the run.

    C is never the client's own largest label: which classes it holds is part of what ε protects.
    A refusal tells something too, so it comes after the answer was counted: a server cannot try one
    C after the other.
    """
    if graph.num_features != settings.features:
        raise SpearError(
            f"The nodes of this client have {graph.num_features} features and the run asks for "
            f"{settings.features}; run with the right number of features."
        )
    if int(graph.y.max()) >= settings.classes:
        raise SpearError(
            f"A label of this client is not below {settings.classes}, the number of classes of the "
            "run; run with more classes, or mend the label."
        )
    return graph.replace(classes=settings.classes)


def count_right(graph: Graph, settings: Settings, given: Estimate) -> tuple[int, int]:
    """How many of a client's own test nodes the global estimate gets right, and wrong.

    Where smoothing is gated, the client goes by its own affinity: it sees no other nodes.
    """
    said = classify(graph, given, settings)
    right = int((said.labels == graph.y[said.nodes]).sum())
    return right, len(said.nodes) - right


def discreet(step: Step) -> Step:
    """A step whose errors tell the server no more than our own sentences do.

    Flower sends the text of an error to the server, and a stranger's text may quote data.
    """

    @wraps(step)
    def told(message: Message, context: Context) -> Message:
        try:
            return step(message, context)
        except SpearError:
            raise
        except Exception as error:
            traceback.print_exc()
            kind = type(error).__name__
            raise SpearError(f"An unexpected {kind}; the log of this node tells more.") from None

    return told


@app.query("upload")
@discreet
def send_upload(message: Message, context: Context) -> Message:
    """Prototypes and counts of this node's graph, once a run; for the ridge head its residuals.

    A node that sends a smaller sketch than it was asked for says so.
    """
    if SENT in context.state:
        raise SpearError("This node has already answered in this run; it answers once.")
    settings = client_settings(_config(message, "settings"))
    path = data_path(context)
    graph, mine = read_client(path), limited(context.node_config, settings)
    allow(context.node_config, path, settings, f"run {context.run_id}: an upload,")
    context.state[SENT] = MetricRecord({"epsilon": settings.epsilon})
    made = local_uploads(fitted(graph, settings), mine, _secret())
    content = RecordDict({"upload": upload_record(made)})
    if sketch_rank(mine) < sketch_rank(settings):
        content["limits"] = MetricRecord({"max-sketch": mine.sketch})
    return Message(content, reply_to=message)


@app.evaluate()
@discreet
def evaluate(message: Message, context: Context) -> Message:
    """How many of this node's test nodes the global estimate gets right; never under privacy."""
    settings = client_settings(_config(message, "settings"))
    sent = context.state.get(SENT)
    noisy = isinstance(sent, MetricRecord) and sent["epsilon"] != math.inf
    if noisy or private(context.node_config, settings):
        raise SpearError("This node keeps its nodes private and gives no exact count.")
    if TESTED in context.state:
        raise SpearError("This node has already tested in this run; it tests once.")
    path = data_path(context)
    graph = fitted(read_client(path), settings)
    given = _model(message, settings)
    allow(context.node_config, path, settings, f"run {context.run_id}: a test,")
    context.state[TESTED] = MetricRecord({"epsilon": settings.epsilon})
    right, wrong = count_right(graph, settings, given)
    content = RecordDict({"metrics": MetricRecord({"right": right, "wrong": wrong})})
    return Message(content, reply_to=message)


def _config(message: Message, name: str) -> ConfigRecord:
    record = message.content[name]
    assert isinstance(record, ConfigRecord)
    return record


def _model(message: Message, settings: Settings) -> Estimate:
    """The estimate that came from the server, of the sizes of the run."""
    record = message.content["model"]
    assert isinstance(record, ArrayRecord)
    wanted = shapes(set(record), settings.classes, settings.features)
    arrays = {name: decoded(record[name].data, shape) for name, shape in wanted.items()}
    if any(arrays[name].shape != shape for name, shape in wanted.items()):
        raise SpearError("What came back from the server has other sizes than the run.")
    return model(arrays)


def data_path(context: Context) -> Path:
    """Where this node's own graph lies: its data-path, or its number in a simulation."""
    config = context.node_config
    if "data-path" in config:
        return Path(str(config["data-path"]))
    return Path(str(context.run_config["data-folder"])) / f"client-{config['partition-id']}.npz"


def _secret() -> int:
    """Fresh randomness of this machine: who knows the seed could take the noise away."""
    return int.from_bytes(np.random.SeedSequence().generate_state(4).tobytes(), "little")
