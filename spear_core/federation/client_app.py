"""The client side: answer one question with prototypes and counts, and nothing else."""

import math
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from spear_core.client import Uploads, upload
from spear_core.datasets.arrays import decoded
from spear_core.errors import SpearError
from spear_core.federation.files import read_client
from spear_core.federation.limits import allow, private
from spear_core.federation.records import client_settings, upload_record
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import propagate
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


def count_right(graph: Graph, settings: Settings, prototypes: torch.Tensor) -> tuple[int, int]:
    """How many of a client's own test nodes the global prototypes get right, and wrong."""
    seen = prototypes.abs().sum(dim=1) > 0
    scores = propagate(graph.operator, graph.project(prototypes), settings.alpha, settings.steps)
    said = scores.masked_fill(~seen, -torch.inf).argmax(dim=1)[graph.test_nodes]
    right = int((said == graph.y[graph.test_nodes]).sum())
    return right, len(said) - right


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
    """Prototypes and counts of this node's graph, once a run."""
    if SENT in context.state:
        raise SpearError("This node has already answered in this run; it answers once.")
    settings = client_settings(_config(message, "settings"))
    path = data_path(context)
    graph = read_client(path)
    allow(context.node_config, path, settings, f"run {context.run_id}: an upload,")
    context.state[SENT] = MetricRecord({"epsilon": settings.epsilon})
    made = local_uploads(fitted(graph, settings), settings, _secret())
    parts = (part.cpu().numpy() for part in (made.label, made.counts, made.prototypes))
    return Message(RecordDict({"upload": upload_record(*parts)}), reply_to=message)


@app.evaluate()
@discreet
def evaluate(message: Message, context: Context) -> Message:
    """How many of this node's test nodes the global prototypes get right; never under privacy."""
    settings = client_settings(_config(message, "settings"))
    sent = context.state.get(SENT)
    noisy = isinstance(sent, MetricRecord) and sent["epsilon"] != math.inf
    if noisy or private(context.node_config, settings):
        raise SpearError("This node keeps its nodes private and gives no exact count.")
    if TESTED in context.state:
        raise SpearError("This node has already tested in this run; it tests once.")
    path = data_path(context)
    graph = fitted(read_client(path), settings)
    arrays = message.content["prototypes"]
    assert isinstance(arrays, ArrayRecord)
    given = decoded(arrays["prototypes"].data, (settings.classes, settings.features))
    allow(context.node_config, path, settings, f"run {context.run_id}: a test,")
    context.state[TESTED] = MetricRecord({"epsilon": settings.epsilon})
    right, wrong = count_right(graph, settings, torch.from_numpy(given.copy()))
    content = RecordDict({"metrics": MetricRecord({"right": right, "wrong": wrong})})
    return Message(content, reply_to=message)


def _config(message: Message, name: str) -> ConfigRecord:
    record = message.content[name]
    assert isinstance(record, ConfigRecord)
    return record


def data_path(context: Context) -> Path:
    """Where this node's own graph lies: its data-path, or its number in a simulation."""
    config = context.node_config
    if "data-path" in config:
        return Path(str(config["data-path"]))
    return Path(str(context.run_config["data-folder"])) / f"client-{config['partition-id']}.npz"


def _secret() -> int:
    """Fresh randomness of this machine: who knows the seed could take the noise away."""
    return int.from_bytes(np.random.SeedSequence().generate_state(4).tobytes(), "little")
