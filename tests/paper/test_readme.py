"""README's sentences on trained rivals, held against the stored rows and our own bytes."""

from statistics import fmean

from spear_core import Settings, run
from spear_core.baselines import METHODS, stored
from spear_core.baselines.views import Summary, summaries
from spear_core.paper import measured
from tests.browser import ROOT
from tests.conftest import need

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
ROWS = [row for row in measured.read() if row.table == "main" and row.row == "SPEAR" and row.values]
SPEAR = {row.column: row.mean for row in ROWS}
SEEDS = (42, 0, 1)  # of the stored runs


def same(row: measured.Measured) -> float:
    """Its mean over the seeds of the stored runs alone."""
    each = zip(row.seeds.split(), row.values.split(), strict=True)
    return fmean(float(value) for seed, value in each if int(seed) in SEEDS)


SAME = {row.column: same(row) for row in ROWS}


def usual(recipe: str) -> list[Summary]:
    """Stored runs at the settings of README's table."""
    wanted = (recipe, 10, 0.05)
    return [s for s in summaries(stored()) if (s.recipe, s.clients, s.beta) == wanted]


def winners(recipe: str) -> dict[str, list[Summary]]:
    """The stored methods that beat SPEAR on each dataset over the same seeds, best first."""
    out: dict[str, list[Summary]] = {}
    for s in sorted(usual(recipe), key=lambda s: -s.accuracy):
        if 100 * s.accuracy > SAME[s.dataset]:
            out.setdefault(s.dataset, []).append(s)
    return out


def test_readme_names_every_stored_method_that_beats_spear():
    said = [line for line in TEXT.splitlines() if line.startswith("- ") and " ± " in line]
    made = []
    for dataset, each in winners("default").items():
        figures = [
            f"{METHODS[s.method].title} {100 * s.accuracy:.1f} ± {100 * s.spread:.1f}" for s in each
        ]
        made.append(f"- {dataset}: {', '.join(figures)}")
    assert sorted(said) == sorted(made)
    assert {frozenset(s.seeds) for s in usual("default")} == {frozenset(SEEDS)}
    assert "over the seeds 42, 0 and 1" in WORDS
    assert {s.dataset for s in usual("default")} == set(winners("default"))
    assert not winners("literature")


def test_readme_says_what_spear_has_on_the_same_seeds():
    gta = next(s for s in winners("default")["PubMed"] if s.method == "fedgta")
    assert (
        f"where SPEAR has {SAME['Cora']:.1f} on Cora, {SAME['CiteSeer']:.1f} on CiteSeer and "
        f"{SAME['PubMed']:.2f} on PubMed; FedGTA's {100 * gta.accuracy:.2f} there is below SPEAR's "
        f"{SPEAR['PubMed']:.2f} over five seeds."
    ) in WORDS
    assert SAME["PubMed"] < 100 * gta.accuracy < SPEAR["PubMed"]


def test_readme_says_what_fedavg_and_fedprox_cost_on_cora():
    need("Cora")
    cora = {s.method: s for s in winners("default")["Cora"]}
    fedavg, fedprox = cora["fedavg"], cora["fedprox"]
    spear = run(Settings(dataset="Cora")).metrics
    gib = (fedavg.bytes_up + fedavg.bytes_down) / 2**30
    assert fedprox.bytes_up == fedavg.bytes_up
    kib = (spear.bytes_up_total + spear.bytes_down_total) / 2**10
    assert (
        f"beat SPEAR on Cora: {100 * fedavg.accuracy:.1f} and {100 * fedprox.accuracy:.1f} against "
        f"{SPEAR['Cora']:.1f}. They take {fedavg.rounds} rounds and {gib:.1f} GiB, both ways, "
        f"against {kib:.0f} KiB, both ways, once."
    ) in WORDS
