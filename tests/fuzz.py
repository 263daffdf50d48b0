"""Links as nobody would write them, and what a live app makes of them."""

import asyncio
import contextlib
import math
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from pages.shared import link
from pages.shared.controls import SCENARIOS
from pages.shared.pages import PAGES, page_named
from spear_core.datasets import CATALOGUE, store
from spear_core.settings import FIELDS

EVERYBODY = ",".join(map(str, range(1000)))
CHOSEN = (EVERYBODY, "0", "0,1", "3,2,1", "0,999", "0,0", "99999999999999", ",", "²", "1;2")
LONGEST = 10.0  # seconds that a page may take
PATIENCE = 600.0  # seconds until nobody waits for one any more, where it is opened alone
NUMBERS = (  # that no setting was made for
    *("", " ", "0", "-0", "-1", "1e308", "-1e308", "1e-308", "nan", "inf", "-inf", "true", "None"),
    *("9" * 20, "9" * 400, "0x10", "1_000", "²", "٣", "½", "1,5", "1e5", "0.1.2", "+3"),
)
WORDS = (  # that no name was made of
    *("", "none", "x" * 2000, "![a](http://127.0.0.1:9/p.png)", "[b](http://127.0.0.1:9)"),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "$\\frac{1}{0}$", "`", "%", "&"),
    *(
        ":material/home:",
        ":red[c]",
        "www.example.com",
        "a@b.example",
        "\u202eright",
        "\u0000",
        "😀",
    ),
    *(
        "é\u0301",
        "名前",
        "\ud7ff",
        "../../etc/passwd",
        "'; DROP TABLE x",
        "{{7*7}}",
        "\r\nA: b",
        "\\",
    ),
    *("_www.evil.example/x", "__www.evil.example", "x_www.evil.example", "12. x", "123456789) x"),
)
KNOWN = (  # each broke the app or held it up before its bound was there
    "?epsilon=1e308",
    "?dataset=synthetic&nodes=10000000&degree=50&features=64",
    "?x=%21%5Ba%5D%28http%3A%2F%2F127.0.0.1%3A9%2Fp.png%29",
    f"?labels_per_class={'9' * 20}",
    f"?clients={'9' * 400}",
    "smooth?hide=epsilon&epsilon=516321",
    "attack?defence=cap&cap_share=0.01",
    "noise?flip=pair&flip_from=999999999999999999999",
    "?dataset=Coauthor-CS&clients=1000&epsilon=1",
    "?dataset=synthetic&nodes=10000&features=2000&classes=100&clients=1000&epsilon=1",
    "?dataset=Coauthor-CS&clients=1000&head=ridge&sketch=64",
    "?dataset=Coauthor-CS&clients=1&head=ridge&sketch=inf",
    "attack?dataset=Coauthor-CS&clients=1000&attacker_count=1000&forge=random&defence=geometric",
    "attack?dataset=Coauthor-CS&clients=1000&attacker_count=9&defence=median&peers=semantic",
    "beyond?v=2&dataset=Coauthor-CS&clients=1000",
    "beyond?v=2&dataset=Coauthor-CS&clients=1000&beyond=Bytes",
    "beyond?v=2&dataset=Coauthor-CS&clients=40&beyond=Bytes",
    "sensitivity?v=2&dataset=Coauthor-CS&head=ridge&sketch=64&sens_x=clients",
    "sensitivity?v=2&clients=1000&epsilon=1&sens_more=Coauthor-CS,Computers",
    "attack?v=2&dataset=Coauthor-CS&clients=480&attacker_count=9&attack_view=Defences",
    "attack?v=2&dataset=Actor&clients=1000&beta=10&attacker_count=9&attack_view=Defences",
    "noise?v=2&dataset=Coauthor-CS&clients=40&head=ridge&sketch=64",
    "compare?v=2&dataset=Coauthor-CS&clients=40&head=ridge&sketch=64",
    "privacy?v=2&dataset=Cora&clients=1000&epsilon=1&head=ridge&sketch=64",
    f"?attackers=chosen&chosen={EVERYBODY}",
    "?v=2&dataset=Cora&head=ridge&sketch=inf&ridge=1e-300&inflate=1e6&attacker_count=3&flip=none",
)
DATASETS = ("digits",) * 8 + ("karate",) * 5 + ("synthetic",) * 5 + ("Texas", "Cora", "Chameleon")
LARGE = ("Coauthor-CS", "Computers", "PubMed")
TOGETHER = (  # what costs most, several at their limits at once
    *("clients", "steps", "sketch", "features", "classes", "nodes", "attacker_count"),
    *("test_steps", "gate_steps", "edge_noise", "feature_noise", "label_noise"),
)
DEAR = {"head": "ridge", "epsilon": "1", "peers": "semantic", "smoothing": "gated"}


def drawn(count: int, seed: int) -> list[str]:
    """So many paths with queries, the known ones first; equal seeds give equal links."""
    rng = random.Random(seed)
    return [*KNOWN, *(one(rng, PAGES[i % len(PAGES)].name) for i in range(count))][:count]


def one(rng: random.Random, page: str) -> str:
    """A link to a page: some settings, some views, something unknown, a key twice."""
    parts = [("dataset", _dataset(rng))] * (rng.random() < 0.9)
    owned = {name: link.choices(name) for name in page_named(page).views}
    for name in rng.sample([n for n in link.SETTINGS if n != "dataset"], rng.randint(1, 7)):
        parts.append((name, value(rng, name)))
    if rng.random() < 0.15:
        parts = _together(rng)
    for name in owned:
        if rng.random() < 0.7:
            parts.append((name, rng.choice([*owned[name] * 4, *WORDS])))
    for name, make in OTHERS.items():
        if rng.random() < 0.15:
            parts.append((name, make(rng)))
    if rng.random() < 0.2:
        parts.append((rng.choice(parts)[0], rng.choice((*NUMBERS, *WORDS))))
    if rng.random() < 0.2:
        parts.append((rng.choice(WORDS), rng.choice(WORDS)))
    rng.shuffle(parts)
    path = "" if page == PAGES[0].name else page
    return f"{path}?" + "&".join(f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in parts)


def _together(rng: random.Random) -> list[tuple[str, str]]:
    """Several knobs at their limits and what makes them dear, on a large graph as often as not."""
    parts = [("dataset", _there(rng.choice((*LARGE, "synthetic", "synthetic"))))]
    for name in rng.sample(TOGETHER, rng.randint(2, 4)):
        parts.append((name, f"{limits(FIELDS[name])[1]:g}"))
    parts += rng.sample(list(DEAR.items()), rng.randint(0, 2))
    parts += [("defence", value(rng, "defence"))] * (rng.random() < 0.5)
    return parts


def value(rng: random.Random, name: str) -> str:
    """A value of a setting: allowed, at a limit, just beyond it, or nothing of the kind."""
    f = FIELDS[name]
    if f.type in (int, "int", float, "float"):
        return rng.choice((_inside, _inside, _edge, _strange))(rng, f)
    if f.type in (bool, "bool"):
        return rng.choice(("true", "false", "false", rng.choice(WORDS)))
    if name == "chosen":
        return rng.choice(CHOSEN)
    return rng.choice((*tuple(f.metadata["choices"]) * 4, *WORDS))


def _inside(rng: random.Random, f: Any) -> str:
    low, high = limits(f)
    some = rng.uniform(low, high)
    if low >= 0 and high - low > 100:  # small ones as often as large ones
        some = min(high, low + math.expm1(rng.uniform(0, math.log1p(high - low))))
    return str(round(some)) if f.type in (int, "int") else f"{some:.6g}"


def _edge(rng: random.Random, f: Any) -> str:
    limit = rng.choice([*limits(f), f.metadata.get("high", 1)])
    step = 1 if f.type in (int, "int") else rng.choice((1e-9, 0.5))
    return str(limit + rng.choice((-step, 0, 0, step)))


def _strange(rng: random.Random, f: Any) -> str:
    return rng.choice((*NUMBERS, *WORDS, str(f.default)))


def limits(f: Any) -> tuple[float, float]:
    """The least and the greatest value that a link may give to a number."""
    rule = f.metadata
    high = rule.get("link_high", rule.get("high", rule.get("below")))
    return rule.get("low", rule.get("above")), high


def _dataset(rng: random.Random) -> str:
    return _there(rng.choice((*DATASETS, rng.choice(WORDS))))


def _there(name: str) -> str:
    """The dataset, or another one where it would have to be fetched."""
    entry = CATALOGUE.get(name)
    return "digits" if entry and not entry.builtin and not store.found(entry) else name


def _pin(rng: random.Random) -> str:
    names = rng.sample(link.SETTINGS, rng.randint(1, 3))
    said = (f"{n}:{_dataset(rng) if n == 'dataset' else value(rng, n)}" for n in names)
    return rng.choice(("default", ",".join(said), rng.choice(WORDS)))


OTHERS: dict[str, Callable[[random.Random], str]] = {
    link.HIDE: lambda rng: ",".join(rng.sample([*link.SETTINGS, *WORDS], 3)),
    link.PIN: _pin,
    link.PICK: lambda rng: rng.choice(("0,0", "3,4", "999999,9999", "0,", "²,1", "-1,0")),
    link.NODE: lambda rng: rng.choice(("0", "33", "999999999", "-1", "²", "1e3")),
    "scenario": lambda rng: rng.choice(list(SCENARIOS)),
}


@dataclass(frozen=True)
class Visit:
    """What one link did."""

    path: str
    seconds: float
    wrong: str  # what must not be; empty if all is well
    work: float = math.nan  # seconds of processor time that the server took, where it was alone


def visited(address: str, pid: int, paths: Sequence[str], tabs: int = 2) -> list[Visit]:
    """Every link opened in a visit of its own, over the socket that a browser would open.

    One that took too long among others is opened once more, alone.
    """
    found = asyncio.run(opened(address, list(paths), tabs))
    slow = [visit for visit in found if visit.seconds > LONGEST]
    again = [_alone(address, pid, visit.path) for visit in slow]
    return [_judged(visit) for visit in (*(v for v in found if v not in slow), *again)]


def _alone(address: str, pid: int, path: str) -> Visit:
    """A link opened while this server does nothing else, and what it took of the processors."""
    before = worked(pid)
    (visit,) = asyncio.run(opened(address, [path], 1, PATIENCE))
    return replace(visit, work=worked(pid) - before)


def worked(pid: int) -> float:
    """Seconds of processor time that a process and those it has started have taken."""
    ticks = 0
    with contextlib.suppress(OSError):  # ended meanwhile
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = sum(map(int, fields[11:15]))  # its own, and of those that have ended
    started = ""
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            started += thread.read_text()
    return ticks / os.sysconf("SC_CLK_TCK") + sum(worked(int(one)) for one in started.split())


def shared() -> bool:
    """Whether so much else runs on this machine that the time on the wall says little."""
    return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)


async def opened(address: str, paths: list[str], tabs: int, limit: float = 90) -> list[Visit]:
    """Every link opened once, so many at the same time."""
    found: list[Visit] = []

    async def work() -> None:
        while paths:
            found.append(await _visit(address, paths.pop(), limit))

    await asyncio.gather(*(work() for _ in range(tabs)))
    return found


async def _visit(address: str, path: str, limit: float) -> Visit:
    """Ask for the page as Streamlit's own script does, and read until it is drawn."""
    page, _, query = path.partition("?")
    asked = BackMsg()
    asked.rerun_script.query_string, asked.rerun_script.page_name = query, page
    wrong, start = [], time.monotonic()
    try:
        stream = f"{address.replace('http', 'ws')}/_stcore/stream"
        async with asyncio.timeout(limit), connect(stream, max_size=None) as socket:
            await socket.send(asked.SerializeToString())
            async for said in socket:
                message = ForwardMsg.FromString(said)
                element = message.delta.new_element
                if element.HasField("exception"):
                    wrong.append(element.exception.message)
                if "could not be drawn" in element.alert.body:
                    wrong.append(element.alert.body)
                if message.HasField("script_finished"):
                    break
    except Exception as error:  # whatever it is, this link did it
        wrong.append(repr(error))
    return Visit(path, time.monotonic() - start, "; ".join(wrong))


def _judged(visit: Visit) -> Visit:
    """A page that is late is wrong; on a shared machine by the time that it was worked at."""
    took = min(visit.seconds, visit.work) if shared() else visit.seconds
    late = [f"took {took:.1f} s"] if took > LONGEST else []
    return replace(visit, wrong="; ".join([*filter(None, [visit.wrong]), *late]))


def faults(log: Path) -> list[str]:
    """The last line of every traceback in a server's log."""
    text = log.read_text("utf-8", errors="replace")
    return [block.strip().split("\n")[-1] for block in text.split("Traceback (most recent")[1:]]
