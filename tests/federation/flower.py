"""Flower in tests: skip where it is missing, and a grid that runs the real apps in this process."""

import importlib.util
import os

import pytest

from spear_core import Settings

SETTINGS = Settings(dataset="digits", classes=10, features=64)
FAST = {"join-deadline": 1.0, "answer-deadline": 0.1, "evaluate": True}


def need_flower(*modules: str) -> None:
    """Skip, with the reason, where Flower is missing; fail where it must be."""
    for name in ("flwr", *modules):
        if importlib.util.find_spec(name) is None:
            if os.environ.get("SPEAR_REQUIRE_FLOWER"):
                pytest.fail(f"{name} is not installed")
            pytest.skip(f"{name} is not installed")


def grid_of(client, contexts, twist=lambda node, reply: reply, asked=None):
    """A grid whose nodes are contexts; `twist` sees every reply that leaves a client.

    A twist may change the reply, return None for a node that never answers, or raise; where it
    returns a name and the objects under it, Flower reads a message out of them when it is pulled.
    `asked` collects the questions by node.
    """
    from flwr.app import Error, Message
    from flwr.serverapp import Grid
    from flwr.supercore.inflatable.inflatable_utils import inflate_object_from_contents
    from flwr.supercore.task_identity import TaskIdentity

    # a deployment sets these itself
    TaskIdentity.run_id = TaskIdentity.task_id = TaskIdentity.node_id = 1

    class Loop(Grid):
        def __init__(self):
            self.left = []  # (node, RecordDict): everything that left a client
            self.replies = {}  # by the id of the question

        run = None

        def set_run(self, run_id):
            raise NotImplementedError

        create_message = set_run

        def get_node_ids(self):
            return list(contexts)

        def get_nodes(self):
            raise NotImplementedError

        def push_messages(self, messages):
            for message in messages:
                node = message.metadata.dst_node_id
                message.metadata.__dict__["_message_id"] = f"{node}-{len(self.left)}"
                TaskIdentity.node_id = node
                if asked is not None:
                    asked[node] = message
                try:
                    reply = twist(node, client(message, contexts[node]))
                except Exception as raised:  # told as a SuperNode tells it
                    error = Error(code=2, reason=f"{type(raised)}:<'{raised}'>")
                    reply = Message(error, reply_to=message)
                if isinstance(reply, Message) and not reply.has_error():
                    self.left.append((node, reply.content))
                self.replies[message.metadata.message_id] = reply
            return [message.metadata.message_id for message in messages]

        def pull_messages(self, message_ids):
            found = [self.replies.pop(one, None) for one in message_ids]
            return [
                inflate_object_from_contents(*one) if isinstance(one, tuple) else one
                for one in found
                if one is not None
            ]

        def send_and_receive(self, messages, *, timeout=None):
            return self.pull_messages(self.push_messages(messages))

    return Loop()


def contexts(paths, **config):
    """The nodes 100, 101, … with these files and, all of them, this node config."""
    from flwr.app import Context, RecordDict

    return {
        100 + k: Context(1, 100 + k, {"data-path": str(path), **config}, RecordDict(), {})
        for k, path in enumerate(paths)
    }


def federated(
    paths, settings=SETTINGS, twist=lambda node, reply: reply, asked=None, nodes=None, **more
):
    """One run in this process: the grid, the report and the estimate."""
    from spear_core.federation.client_app import app
    from spear_core.federation.flower import run_config
    from spear_core.federation.report import Report
    from spear_core.federation.server_app import federate

    grid, report = grid_of(app, nodes or contexts(paths), twist, asked), Report({})
    config = run_config(settings, paths[0].parent, len(paths), **{**FAST, **more})
    return grid, report, federate(grid, settings, config, report)
