"""The real client app with a fault added where the node's config asks for one."""

import time

import numpy as np
from flwr.app import Array, Context, Message
from flwr.clientapp import ClientApp

from spear_core.federation import client_app

app = ClientApp()


@app.query("upload")
def upload(message: Message, context: Context) -> Message:
    fault = context.node_config.get("fault", "")
    if fault == "slow":
        time.sleep(600)  # the test ends this process meanwhile
    reply = client_app.send_upload(message, context)
    if fault == "nan":
        record = reply.content["upload"]
        record["prototypes"] = Array(np.full(record["prototypes"].shape, np.nan, np.float32))
    return reply


@app.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    return client_app.evaluate(message, context)
