"""`make federation-demo`: a real federation on this machine, compared with the explorer's run."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from spear_core.classify import classify
from spear_core.errors import SpearError
from spear_core.federation.deployment import Deployment
from spear_core.federation.files import client_graph, write_client
from spear_core.federation.flower import check_ended, run_config
from spear_core.federation.model import COSINE, RIDGE, model
from spear_core.federation.names import shaped
from spear_core.federation.report import NEAR, add_to, read_folder
from spear_core.measures.spread import percent
from spear_core.run import Result, run
from spear_core.settings import Settings

# everything is on this machine: nobody is late, the machine is slow
PATIENT = {"join-deadline": 600.0, "answer-deadline": 600.0}


def export_clients(result: Result, folder: Path) -> list[Path]:
    """One file for every client of a run's partition."""
    paths = [folder / f"client-{k}.npz" for k in range(result.held.clients)]
    for k, path in enumerate(paths):
        write_client(path, client_graph(result.held, k))
    return paths


def compare(result: Result, arrays: Mapping[str, np.ndarray]) -> tuple[float, int, int]:
    """Largest difference of a score, how many predictions differ, and how many are ties.

    A tie has its two best scores closer than what travelled as float32 can tell: there another
    winner is no difference.
    """
    names = COSINE if result.estimate.ridge is None else RIDGE
    theirs = model({name: arrays[name] for name in names}, result.graph.device)
    said = classify(result.graph, theirs, result.settings)
    scores = result.prediction.scores
    seen = result.estimate.seen
    far = float((said.scores - scores)[:, seen].abs().max())
    best = scores.topk(min(2, scores.shape[1]), dim=1).values
    tied = (best[:, 0] - best[:, -1] < NEAR) & (scores.shape[1] > 1)
    differing = (said.labels != result.prediction.labels) & ~tied
    return far, int(differing.sum()), int(tied.sum())


def main(settings: Settings, say: Callable[[str], None] = print, keep: Path | None = None) -> None:
    """Split, start, run, compare, stop."""
    result, private = run(settings), settings.epsilon < float("inf")
    with tempfile.TemporaryDirectory(prefix="spear-federation-") as scratch:
        folder = keep or Path(scratch)
        paths = export_clients(result, folder / "clients")
        say(f"{len(paths)} client files of {settings.dataset} in {folder / 'clients'}")
        out = folder / "out"
        config = run_config(shaped(settings, result.graph), out, len(paths), **PATIENT)
        with Deployment(folder) as deployment:
            say(f"SuperLink on 127.0.0.1:{deployment.port}, TLS and node authentication on")
            deployment.add_nodes(
                {f"node-{k}": {"data-path": str(path)} for k, path in enumerate(paths)}
            )
            say(f"{len(paths)} SuperNodes registered and started; asking each once")
            ended = deployment.run(config)
            check_ended(ended, out)
            report, arrays = read_folder(out)
            assert arrays is not None
            if not private:
                far, differing, report.near_ties = compare(result, arrays)
                add_to(out, near_ties=report.near_ties)
            for line in report.lines():
                say(line)
        say("everything that was started has been stopped")
    say(f"{percent(result.metrics.accuracy)} on the whole graph in the explorer")
    if private:
        say("Privacy noise is drawn in secret by every node, so the results differ on purpose.")
        return
    say(f"largest difference of a score {far:.1e}, {differing} predictions differ")
    if far >= NEAR or differing:
        raise SpearError("The federation and the explorer do not agree; please report it.")
    say("The federation equals the explorer.")
