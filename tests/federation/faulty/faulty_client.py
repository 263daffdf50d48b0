"""The real client app, which misbehaves where its node's config says so and notes what it sends."""

import json
import time
from io import BytesIO
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message
from flwr.clientapp import ClientApp

from spear_core.federation import client_app

app = ClientApp()


@app.query("upload")
def upload(message: Message, context: Context) -> Message:
    config = dict(context.node_config)
    fault = config.get("fault", "")
    if fault == "hangs":
        time.sleep(600)  # the test kills this node meanwhile
    if fault == "other-file":
        config["data-path"] = config["other-path"]
    changed = Context(context.run_id, context.node_id, config, context.state, context.run_config)
    reply = client_app.send_upload(message, changed)
    if fault == "nan":
        record = reply.content["upload"]
        record["prototypes"] = Array(np.full(record["prototypes"].shape, np.nan, np.float32))
    if fault in ("npz", "header"):  # what a stranger may send; noting it would mean to decode it
        return strange(reply, fault)
    return noted(reply, context, ".upload")


def strange(reply: Message, fault: str) -> Message:
    """A reply whose arrays are none: an npz that is declared as evil, or a header of 10¹¹ rows."""
    record, file = reply.content["upload"], BytesIO()
    if fault == "npz":
        np.savez(file, labels=np.zeros(3))
        record["labels"] = Array("evil", (3,), "numpy.ndarray", file.getvalue())
    else:
        shape = (10**11, 10)
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        record["prototypes"] = Array("float32", shape, "numpy.ndarray", file.getvalue())
    return reply


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    return noted(client_app.evaluate(message, context), context, ".evaluate")


def noted(reply: Message, context: Context, suffix: str) -> Message:
    """The same reply; everything in it is written beside the node's file for the test to read."""
    content = {
        name: {
            key: value.numpy().tolist() if isinstance(record, ArrayRecord) else value
            for key, value in record.items()
        }
        for name, record in reply.content.items()
    }
    beside(context, suffix).write_text(json.dumps(content))
    return reply


def beside(context: Context, suffix: str) -> Path:
    return Path(str(context.node_config["data-path"])).with_suffix(suffix)
