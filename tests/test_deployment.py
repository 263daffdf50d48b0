"""A real federation: SuperLink and SuperNodes as processes, TLS and node authentication on."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch

from spear_core import Settings, run
from spear_core.federation.files import client_graph, write_client
from tests.browser import ROOT
from tests.flower import need_flower

pytestmark = pytest.mark.skipif(
    "SPEAR_DEPLOYMENT" not in os.environ,
    reason="starts dozens of processes for minutes; say SPEAR_DEPLOYMENT=1 to run it",
)
SETTINGS = Settings(dataset="digits")


@pytest.fixture(scope="module")
def result():
    return run(SETTINGS)


@pytest.fixture(scope="module")
def deployment(result, tmp_path_factory):
    """Ten honest nodes that have joined."""
    need_flower()
    from spear_core.federation.demo import export_clients
    from spear_core.federation.deployment import Deployment

    folder = tmp_path_factory.mktemp("federation")
    paths = export_clients(result, folder / "clients")
    with Deployment(folder) as running:
        for k, path in enumerate(paths):
            running.add_node(f"node-{k}", path)
        yield running


def test_ten_nodes_give_the_very_result_of_the_explorer(deployment, result):
    from spear_core.federation.demo import compare, run_config
    from spear_core.federation.report import read_folder

    out = deployment.folder / "first"
    ended = deployment.run(run_config(SETTINGS, out, 10, **{"join-deadline": 180.0}))
    assert ended["status"] == "finished:completed", deployment.log("superlink")[-2000:]
    report, prototypes = read_folder(out)
    far, differing = compare(result, torch.from_numpy(prototypes))
    assert far < 1e-6
    assert differing == 0
    assert len(report.answered) == 10
    assert report.counted_bytes == result.metrics.bytes_up_total
    # on the wire: the counted arrays, their container, the questions and the evaluation
    wire = ended["network-traffic"]["total-bytes"]
    print("counted", report.counted_bytes, "records", report.record_bytes, "wire", wire)
    assert report.counted_bytes < report.record_bytes < wire


def test_bad_nodes_are_named_and_the_rest_makes_the_estimate(deployment, result):
    from spear_core.federation.demo import run_config
    from spear_core.federation.deployment import Deployment
    from spear_core.federation.report import read_folder

    folder = deployment.folder
    wide = client_graph(result.held, 1)
    wide = wide.replace(x=torch.rand(wide.num_nodes, 7))
    write_client(folder / "wide.npz", wide)
    good = folder / "clients"
    deployment.add_node("raising", folder / "nowhere.npz")
    deployment.add_node("nan", good / "client-0.npz", fault="nan")
    deployment.add_node("wide", folder / "wide.npz")
    deployment.add_node("killed", good / "client-1.npz", fault="slow")
    deployment.add_node("stranger", good / "client-2.npz", register=False)

    def kill_when_asked():
        for _ in range(600):
            if "query" in deployment.log("killed") or "Receiv" in deployment.log("killed"):
                break
            time.sleep(0.2)
        time.sleep(2)
        deployment.stop("killed")

    threading.Thread(target=kill_when_asked, daemon=True).start()
    deployment.app = Path(__file__).parent / "faulty"
    out = folder / "second"
    more = {"join-deadline": 180.0, "answer-deadline": 40.0, "quorum": 5}
    ended = deployment.run(run_config(SETTINGS, out, 14, **more))
    assert isinstance(deployment, Deployment)
    assert ended["status"] == "finished:completed", deployment.log("superlink")[-2000:]
    report, prototypes = read_folder(out)
    assert len(report.asked) == 14, "the unregistered node is refused"
    assert len(report.answered) == 10
    reasons = " | ".join(one["reason"] for one in report.dropped)
    assert "There is no client file" in reasons
    assert "not finite" in reasons
    assert "shape" in reasons
    assert "deadline" in reasons or "failed" in reasons
    assert len({one["node"] for one in report.dropped}) == 4
    assert torch.allclose(
        torch.from_numpy(prototypes), result.estimate.prototypes, atol=1e-6
    )  # the ten honest nodes alone


def test_zero_answers_is_a_failed_run(deployment):
    from spear_core.federation.demo import run_config
    from spear_core.federation.report import read_folder

    out = deployment.folder / "third"
    more = {"join-deadline": 2.0, "answer-deadline": 2.0}
    ended = deployment.run(run_config(SETTINGS, out, 500, **more))
    assert ended["status"] == "finished:failed"
    assert "500 are needed" in read_folder(out)[0].failure


def test_a_hundred_simulated_clients_give_the_same(tmp_path):
    need_flower("ray")
    script = f"""
from pathlib import Path
import torch
from spear_core import Settings, run
from spear_core.federation.demo import compare, export_clients, run_config
from spear_core.federation.report import read_folder
from spear_core.federation.simulation import simulate

settings = Settings(dataset="digits", clients=100, beta=0.5)
result = run(settings)
folder = Path({str(tmp_path)!r})
export_clients(result, folder / "clients")
config = run_config(settings, folder / "out", 100)
config |= {{"join-deadline": 60.0, "answer-deadline": 300.0, "evaluate": False}}
simulate(config, folder / "clients", 100)
report, prototypes = read_folder(folder / "out")
far, differing = compare(result, torch.from_numpy(prototypes))
print("answered", len(report.answered), "differing", differing, "near", far < 1e-6)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert "answered 100 differing 0 near True" in done.stdout, done.stderr[-3000:]
