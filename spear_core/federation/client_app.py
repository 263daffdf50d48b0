"""The client side: answer one question with prototypes and counts, and nothing else."""

import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from spear_core.client import Uploads, upload
from spear_core.errors import SpearError
from spear_core.federation.files import read_client
from spear_core.federation.records import client_settings, upload_record
from spear_core.graph import Graph
from spear_core.partition import Partition
from spear_core.propagate import propagate
from spear_core.settings import Settings
from spear_core.transforms.privacy import privatise

app = ClientApp()
Step = Callable[[Message, Context], Message]
SENT = "spear-sent"  # kept in the node's own state: a run gets one upload


def local_uploads(graph: Graph, settings: Settings, secret: int | None = None) -> Uploads:
    """The engine's client step on one client's own graph; a secret seeds its privacy noise."""
    owner = torch.zeros(graph.num_nodes, dtype=torch.int64, device=graph.device)
    alone = Partition(graph, owner, clients=1)
    made: Uploads = upload(alone, settings)
    if settings.epsilon < float("inf"):
        made = privatise(upload(alone, settings), settings, secret)
    return made


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
    made = local_uploads(_graph(context), settings, _secret())
    context.state[SENT] = MetricRecord({"rows": len(made.label)})
    parts = (part.cpu().numpy() for part in (made.label, made.counts, made.prototypes))
    return Message(RecordDict({"upload": upload_record(*parts)}), reply_to=message)


@app.evaluate()
@discreet
def evaluate(message: Message, context: Context) -> Message:
    """How many of this node's test nodes the global prototypes get right."""
    settings = client_settings(_config(message, "settings"))
    arrays = message.content["prototypes"]
    assert isinstance(arrays, ArrayRecord)
    prototypes = torch.from_numpy(arrays["prototypes"].numpy().copy())
    right, wrong = count_right(_graph(context), settings, prototypes)
    content = RecordDict({"metrics": MetricRecord({"right": right, "wrong": wrong})})
    return Message(content, reply_to=message)


def _config(message: Message, name: str) -> ConfigRecord:
    record = message.content[name]
    assert isinstance(record, ConfigRecord)
    return record


def _graph(context: Context) -> Graph:
    """This node's own graph: by its data-path, or by its number in a simulation."""
    config = context.node_config
    if "data-path" in config:
        return read_client(Path(str(config["data-path"])))
    folder = Path(str(context.run_config["data-folder"]))
    return read_client(folder / f"client-{config['partition-id']}.npz")


def _secret() -> int:
    """Fresh randomness of this machine: who knows the seed could take the noise away."""
    return int.from_bytes(np.random.SeedSequence().generate_state(4).tobytes(), "little")
