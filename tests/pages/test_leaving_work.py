"""A sweep and a live training on a real server stop when their visitor leaves: pieces are counted.

The visitor speaks to the server over the socket that a browser would open. What each piece of work
leaves on disk tells how far it came; a server that is idle does no more of it.
"""

import asyncio
from urllib.parse import urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from spear_core import Settings
from spear_core.baselines.loop import curve_so_far
from spear_core.baselines.views import RECIPES
from spear_core.sweeps import store
from tests.browser import running_server
from tests.pages.test_leaving import needs_proc, until_idle

GRAPH = {"dataset": "synthetic", "nodes": 20_000, "degree": 20, "features": 64}
BLOCKS, ROUNDS = 45, 25  # of all that is left: nine values of β with five seeds, and the page's own
UNDER_WAY = 2  # pieces that may end after the visitor left: one begun, one before the news came

pytestmark = [pytest.mark.slow, needs_proc]


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("SPEAR_CACHE", str(tmp_path))
    with running_server() as found:
        yield found


def asked(page, query="", button=""):
    """What a browser says to see a page, or when a button is pressed there."""
    message = BackMsg()
    message.rerun_script.query_string, message.rerun_script.page_name = query, page
    if button:
        pressed = message.rerun_script.widget_states.widgets.add()
        pressed.id, pressed.trigger_value = button, True
    return message.SerializeToString()


async def drawn(socket, label=""):
    """Read until a page is drawn; the id of the button with this label."""
    found = ""
    async for said in socket:
        message = ForwardMsg.FromString(said)
        button = message.delta.new_element.button
        if label and button.label == label:
            found = button.id
        if message.HasField("script_finished"):
            return found


async def read(socket):
    """Take whatever the server says, as a browser does."""
    async for _ in socket:
        pass


async def left(server, page, button, done, way):
    """Begin the work of a page and leave it after a piece; how many there were, and in the end."""
    address, pid = server
    stream = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with asyncio.timeout(6000), connect(stream, max_size=None) as socket:
        await socket.send(asked(page, urlencode({**GRAPH, "sens_x": "beta"})))
        if button:
            await socket.send(asked(page, button=await drawn(socket, button)))
        reading = asyncio.create_task(read(socket))
        while not (before := await asyncio.to_thread(done)):
            await asyncio.sleep(0.05)
        if way == "close":
            await socket.close()
        else:
            await socket.send(asked("paper"))  # which reads its tables and computes nothing
        await asyncio.to_thread(until_idle, pid)
        reading.cancel()
    return before, done()


def blocks():
    log = store.log("synthetic")
    return log.read_text().count("\n") if log.exists() else 0


def rounds():
    settings = Settings(**GRAPH)
    return len(curve_so_far(settings, RECIPES["default"]("fedavg", rounds=ROUNDS)))


@pytest.mark.parametrize("way", ["close", "click"])
@pytest.mark.parametrize(
    ("page", "button", "done", "total"),
    [("sensitivity", "", blocks, BLOCKS), ("compare", "Run it now", rounds, ROUNDS)],
    ids=["sweep", "training"],
)
def test_work_stops_at_its_next_piece(server, page, button, done, total, way):
    before, after = asyncio.run(left(server, page, button, done, way))
    print(f"{page}, {way}: {before} pieces of {total} when it was left, {after} in the end")
    assert 0 < after <= before + UNDER_WAY < total
