"""Questions to nodes, and what each of them answered, whatever that is.

A node is a stranger, and so is the message around its answer: Flower reads it as it is pulled, and
one that cannot be read ends whatever is pulled with it. Every question's answer is therefore pulled
by itself, and belongs to the node that was asked, whoever a message says it is from.
"""

import time
import traceback
from collections.abc import Sequence

import httpx
from flwr.app import Message
from flwr.serverapp import Grid

from spear_core.errors import SpearError

PAUSE = 0.5  # seconds between two looks for answers

Answers = dict[int, Message | SpearError]  # by node; who did not answer is not in it


def ask(grid: Grid, messages: Sequence[Message], deadline: float) -> Answers:
    """The first answer of every node that was asked, or why it cannot be read."""
    end, found = time.monotonic() + deadline, Answers()
    sent = list(grid.push_messages(messages))
    asked = {one.metadata.message_id: one.metadata.dst_node_id for one in messages}
    waiting = {question: asked[question] for question in sent if question in asked}
    while waiting:
        for question, node in list(waiting.items()):
            answer = _answer(grid, question)
            if answer is not None:
                found[node] = answer
                del waiting[question]
        if time.monotonic() >= end:
            break
        time.sleep(PAUSE if waiting else 0.0)
    return found


def _answer(grid: Grid, question: str) -> Message | SpearError | None:
    """What came to one question, if anything did."""
    try:
        return next(iter(grid.pull_messages([question])), None)
    except httpx.HTTPError:  # the SuperLink's own trouble: it is asked again
        return None
    except Exception as error:
        traceback.print_exc()
        return SpearError(f"its answer cannot be read ({type(error).__name__})")
