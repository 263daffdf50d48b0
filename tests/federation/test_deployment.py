"""A real federation: SuperLink and SuperNodes as processes, TLS and node authentication on.

One deployment of ten nodes and a stranger serves all tests in this file, in their order: starting
processes is what takes the time.
"""

import json
import os
import subprocess
import sys
import threading
import time

import pytest
import torch

from spear_core import Settings, run
from spear_core.cli import main as command
from spear_core.federation.files import client_graph, write_client
from spear_core.server import estimate
from tests.browser import ROOT
from tests.federation.flower import need_flower

pytestmark = pytest.mark.flower
SETTINGS = Settings(dataset="digits", classes=10, features=64)
# only the faulty app obeys them
FAULTS = {0: "other-file", 1: "nan", 2: "other-file", 3: "hangs", 4: "npz", 5: "header"}
PATIENT = {"join-deadline": 1200.0, "answer-deadline": 1200.0}  # they end the wait only in trouble
SIMULATION = """
import sys
from pathlib import Path
from spear_core import Settings, run
from spear_core.federation.demo import compare, export_clients
from spear_core.federation.flower import run_config
from spear_core.federation.report import read_folder
from spear_core.federation.simulation import simulate

settings = Settings(dataset="digits", clients=100, beta=0.5, classes=10, features=64)
result = run(settings)
folder = Path(sys.argv[1])
export_clients(result, folder / "clients")
config = run_config(settings, folder / "out", 100)
config |= {"join-deadline": 1200.0, "answer-deadline": 1200.0, "evaluate": False}
simulate(config, folder / "clients", 100)
report, arrays = read_folder(folder / "out")
far, differing, _ = compare(result, arrays)
print("answered", len(report.answered), "differing", differing, "near", far < 1e-6)
"""


@pytest.fixture(scope="module")
def result():
    return run(SETTINGS)


@pytest.fixture(scope="module")
def deployment(result, tmp_path_factory):
    """Ten registered nodes and one that is not."""
    need_flower()
    from spear_core.federation.demo import export_clients
    from spear_core.federation.deployment import Deployment

    folder = tmp_path_factory.mktemp("federation")
    wide = client_graph(result.held, 2)
    write_client(folder / "wide.npz", wide.replace(x=torch.rand(wide.num_nodes, 7)))
    nodes = {
        f"node-{k}": {"data-path": str(path), "fault": FAULTS.get(k, "")}
        for k, path in enumerate(export_clients(result, folder / "clients"))
    }
    nodes["node-0"]["other-path"] = str(folder / "nowhere.npz")
    nodes["node-2"]["other-path"] = str(folder / "wide.npz")
    with Deployment(folder) as running:
        running.add_nodes({"stranger": nodes["node-9"]}, register=False)
        running.add_nodes(nodes)
        yield running
    assert until(lambda: not family(folder), 30), f"left behind: {family(folder)}"


@pytest.fixture(scope="module")
def first(deployment):
    """The ten honest nodes: how the run ended, its report and its prototypes."""
    return federated(deployment, "first", evaluate=False)


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    """A hundred clients on Ray, which start while the second run waits for a dead node."""
    folder = tmp_path_factory.mktemp("simulation")
    with (folder / "log").open("w") as log:
        started = subprocess.Popen(
            [sys.executable, "-c", SIMULATION, str(folder)],
            cwd=ROOT,
            env={**os.environ, "RAY_worker_niceness": "0"},  # else it starves beside other tests
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    yield started, folder / "log"
    started.terminate()
    started.wait()


@pytest.fixture(scope="module")
def second(deployment, first, simulation):
    """The same nodes with their faults, node 3 killed as soon as it has been asked."""
    before = len(deployment.log("node-3"))

    def kill_when_asked():
        until(lambda: "Receiving: query.upload" in deployment.log("node-3")[before:])
        deployment.stop("node-3", kill=True)

    killer = threading.Thread(target=kill_when_asked)
    killer.start()
    deployment.app = ROOT / "tests" / "federation" / "faulty"
    made = federated(deployment, "second", quorum=4)
    killer.join()
    return made


def federated(deployment, name, **more):
    from spear_core.federation.flower import run_config
    from spear_core.federation.report import read_folder

    out = deployment.folder / name
    ended = deployment.run(run_config(SETTINGS, out, 10, **{**PATIENT, **more}))
    assert ended["status"] == "finished:completed", deployment.log("superlink")[-2000:]
    return ended, *read_folder(out)


def until(there, timeout=300):
    """Wait for something to become true."""
    end = time.monotonic() + timeout
    while not there():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def family(folder):
    """Processes of a deployment that still run, by the folder in their environment."""
    import psutil

    mine = []
    for process in psutil.process_iter(["environ", "cmdline"]):
        if (process.info["environ"] or {}).get("FLWR_HOME", "").startswith(str(folder)):
            mine.append(process.info["cmdline"])
    return mine


def test_ten_nodes_give_the_very_result_of_the_explorer(first, result):
    from spear_core.federation.demo import compare

    _, report, arrays = first
    far, differing, _ = compare(result, arrays)
    assert far < 1e-6
    assert differing == 0
    assert len(report.asked) == len(report.answered) == 10
    assert not report.dropped


def test_bytes_on_the_wire_stand_beside_the_counted_upload(first, result):
    ended, report, _ = first
    assert report.counted_bytes == result.metrics.bytes_up_total
    assert report.counted_bytes < report.record_bytes < report.wire_up
    assert report.wire_up == ended["network-traffic"]["inbound-bytes"]
    assert report.wire_down == ended["network-traffic"]["outbound-bytes"]
    # what else goes up is Flower's envelopes, less of it than the features of the smallest client
    features = min(client_graph(result.held, k).num_nodes for k in range(10)) * 64 * 4
    assert (report.wire_up - report.record_bytes) / 10 < features


def test_an_unregistered_node_is_refused(deployment, first):
    assert until(lambda: deployment.processes["stranger"].poll() is not None)
    assert "Failed to activate SuperNode" in deployment.log("stranger")
    assert len(first[1].asked) == 10


def test_bad_nodes_are_named_and_the_rest_makes_the_estimate(second, result):
    _, report, arrays = second
    assert len(report.asked) == 10
    assert len(report.answered) == 4
    why = {}
    for one in report.dropped:
        why.setdefault(one["node"], one["reason"])
    assert set(why) == set(report.asked) - set(report.answered)
    reasons = sorted(why.values())
    assert reasons[0].endswith("its prototype is not finite")
    assert reasons[1] == "it died or lost its connection during the run"
    assert reasons[2].startswith("it failed: The nodes of this client have 7 features")
    assert reasons[3].startswith("it failed: There is no client file")
    assert reasons[4].startswith("its labels cannot be read: ")
    assert reasons[5].startswith("its prototypes cannot be read: its shape is (100000000000, 10)")
    up = result.uploads
    rest = up.client > 5
    parts = {name: getattr(up, name)[rest] for name in ("client", "label", "counts", "prototypes")}
    alone = estimate(up.replace(**parts), SETTINGS).prototypes
    assert torch.allclose(torch.from_numpy(arrays["prototypes"]), alone, atol=1e-6)


def test_only_prototypes_counts_and_metrics_leave_a_node(second, deployment, result):
    up, folder = result.uploads, deployment.folder / "clients"
    right = wrong = 0
    for k in range(6, 10):
        sent = json.loads((folder / f"client-{k}.upload").read_text())
        assert set(sent) == {"upload"}
        rows = up.client == k
        assert set(sent["upload"]) == {"labels", "counts", "prototypes"}
        assert sent["upload"]["labels"] == up.label[rows].tolist()
        assert sent["upload"]["counts"] == up.counts[rows].tolist()
        prototypes = torch.tensor(sent["upload"]["prototypes"]).reshape(-1, 64)
        assert torch.allclose(prototypes, up.prototypes[rows], atol=1e-6)
        told = json.loads((folder / f"client-{k}.evaluate").read_text())
        assert set(told) == {"metrics"}
        assert set(told["metrics"]) == {"right", "wrong"}
        right, wrong = right + told["metrics"]["right"], wrong + told["metrics"]["wrong"]
    _, report, _ = second
    assert (report.right, report.wrong) == (right, wrong)
    assert right + wrong == int((result.graph.test & (result.partition.owner > 5)).sum())


def test_no_answer_is_a_failure_of_our_command(second, deployment, monkeypatch, capsys):
    from spear_core.federation.deployment import LINK
    from spear_core.federation.report import read_folder

    deployment.stop(*[name for name in deployment.processes if name != "superlink"])
    monkeypatch.setenv("FLWR_HOME", deployment.env["FLWR_HOME"])
    out = deployment.folder / "third"
    words = ["--min-nodes", "1", "--join-deadline", "2", "--out", str(out)]
    words += ["--classes", "10", "--features", "64"]
    assert command(["federate", LINK, *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "Only 0 nodes joined within 2.0 s and 1 are needed" in said
    report, arrays = read_folder(out)
    assert arrays is None
    assert "0 nodes joined" in report.failure


def test_a_hundred_simulated_clients_give_the_same(simulation):
    need_flower("ray")
    started, log = simulation
    started.wait(timeout=1500)
    assert "answered 100 differing 0 near True" in log.read_text(), log.read_text()[-3000:]
