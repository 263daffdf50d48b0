"""Seven steps and one beyond: each asks a question whose answer comes from the present run."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
import torch

from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.node import find, inspect
from spear_core.figures import lesson as drawn
from spear_core.figures import shrink, smooth, split, theory
from spear_core.lesson.numbers import (
    DRAWS,
    apart,
    contested,
    dense,
    five_seeds,
    fullest,
    how_many,
    mean_errors,
    three_numbers,
)
from spear_core.measures.prototype_error import TEST
from spear_core.measures.spread import mean_and_spread, percent
from spear_core.run import Result
from spear_core.settings import equation, written
from spear_core.studies.risk_check import check

SKEWS = (0.05, 0.1, 0.5, 1.0, 10.0)
HEIGHT = 400  # of every picture, with and without the answer


@dataclass(frozen=True)
class Task:
    """What one step asks and shows."""

    question: str
    choices: tuple[str, ...]
    answer: int  # index of the right choice
    formula: str  # LaTeX, with the numbers of this run
    told: str  # why, in a sentence
    figure: go.Figure
    shown: go.Figure  # the same picture without the answer

    def __post_init__(self) -> None:
        for picture in (self.figure, self.shown):  # one takes the place of the other
            picture.update_layout(height=HEIGHT)


def splits(result: Result, knob: float) -> Task:
    """How many classes a client knows when a graph is split with label skew β."""
    held = (result.held.train_counts > 0).sum(1)
    with_any = held[held > 0].tolist()
    typical, classes = round(statistics.median(with_any)), result.graph.classes
    choices, answer = three_numbers(typical, 1, classes)
    cut = result.partition.cut_edges / max(result.graph.num_edges, 1)
    small = result.graph.num_nodes <= 100
    beta = written("beta", result.settings.beta)
    return Task(
        f"β is {beta} and there are {classes} classes. Of how many does the "
        "typical client have training nodes?",
        choices,
        answer,
        rf"q \sim \mathrm{{Dir}}(\beta),\quad \beta = {beta}",
        f"The clients know {min(with_any)} to {max(with_any)} classes, typically {typical}, and "
        f"{percent(cut, 0)} of the edges are cut.",
        split.small_graph(result) if small else split.holdings(result, training=True),
        split.sizes(result),
    )


def smooths(result: Result, knob: float) -> Task:
    """What smoothing does to one node's similarity to its own class."""
    node = find(result, right=False)
    node = int(result.prediction.nodes[0]) if node is None else node
    view = inspect(result, node)
    before, after = float(view.before[view.true]), float(view.after[view.true])
    change = after - before
    answer = 1 if abs(change) < 5e-4 else 0 if change > 0 else 2
    share = len(view.neighbours)
    s, name = result.settings, result.graph.names[view.true]
    return Task(
        f"Node {node} is of class {name} and has {share} neighbours. After smoothing with "
        f"{equation('alpha', s.alpha)}, is it more similar to the prototype of its own class?",
        ("more similar", "about the same", "less similar"),
        answer,
        rf"z = (1-\alpha)\,x + \alpha\,\hat A z,\quad \cos: {before:.3f} \to {after:.3f}",
        f"Its similarity to class {name} moves from {before:.3f} to {after:.3f}; it is "
        f"called {result.graph.names[view.predicted]}.",
        smooth.similarities(result, view),
        drawn.raw_similarities(result.graph.names, view.before.tolist(), view.true),
    )


def estimates(result: Result, knob: float) -> Task:
    """How the error of a mean falls with the number of nodes in it."""
    label, n = fullest(result), int(knob)
    sizes = sorted({1, 2, 4, 8, 16, n, 4 * n})
    errors = mean_errors(result, label, tuple(sizes))
    one, four = errors[sizes.index(n)], errors[sizes.index(4 * n)]
    ratio = one / four if four else float("inf")
    choices = ("it stays", "it halves", "it falls to about a quarter")
    answer = int(np.argmin([abs(np.log(ratio / goal)) for goal in (1, 2, 4)]))
    return Task(
        f"The mean of {n} nodes of one class misses the true mean by some squared distance. "
        f"What happens to it with {4 * n} nodes?",
        choices,
        answer,
        rf"\mathrm{{E}}\,\|p - \mu\|^2 = \frac{{\sigma_0^2}}{{n}}:\quad {one:.3f} \to {four:.3f}",
        f"Over {DRAWS} draws from class {result.graph.names[label]} it falls by a factor of "
        f"{ratio:.1f}.",
        drawn.error_of_means(sizes, errors, n),
        drawn.known_errors(sizes, errors, n),
    )


def few_samples(result: Result, knob: float) -> Task:
    """Which upload of a class is farthest from the truth."""
    seen = check(result, TEST)
    label = contested(result)
    rows = np.flatnonzero(seen.label == label)
    rows = rows[np.argsort(seen.n[rows], kind="stable")][:4]
    worst = int(rows[np.argmax(seen.error[rows])])
    choices = tuple(f"client {seen.client[i]:.0f}, n = {seen.n[i]:.0f}" for i in rows)
    name = result.graph.names[label]
    rank = "the fewest" if seen.n[worst] == seen.n[rows].min() else "not the fewest"
    slope = f"{seen.slope.slope:.1f}".replace("-", "−") if seen.slope else ""
    fall = f"Over all {len(seen.n)} prototypes of this run the error goes as n to the {slope}."
    return Task(
        f"These clients hold class {name}. Whose prototype is farthest from the true mean?",
        choices,
        int(np.flatnonzero(rows == worst)[0]),
        rf"\|p - \mu\|^2 = {seen.error[worst]:.4f}\ \text{{with}}\ n = {seen.n[worst]:.0f}",
        f"It has {rank} nodes of them." + (f" {fall}" if seen.slope else ""),
        theory.error_over_count(seen, result.graph.names),
        drawn.holders([int(seen.client[i]) for i in rows], [int(seen.n[i]) for i in rows]),
    )


def pulls(result: Result, knob: float) -> Task:
    """λ of the smallest upload that has peers."""
    up, gamma = result.uploads, result.settings.gamma
    holders = torch.bincount(up.label, minlength=up.classes)[up.label]
    rows = (holders > 1).nonzero().squeeze(1)
    row = int(rows[up.counts[rows].argmin()]) if len(rows) else int(up.counts.argmin())
    same = up.label == up.label[row]
    n = int(up.counts[row])
    lam = 1 / (1 + gamma * n)
    trust = written("gamma", gamma)
    latex = trust.replace("∞", r"\infty")
    wrong = [v for v in (1 - lam, 1 / (1 + n), lam / 2, 0.5) if abs(v - lam) > 0.02]
    options = sorted({f"{lam:.2f}", *(f"{v:.2f}" for v in wrong[:2])})
    name = result.graph.names[int(up.label[row])]
    return Task(
        f"Client {int(up.client[row])} sends class {name} from {how_many(n)}, and γ is {trust}. "
        "How much of it is taken from the peers?",
        tuple(options),
        options.index(f"{lam:.2f}"),
        rf"\lambda = \frac{{1}}{{1 + \gamma n}} = \frac{{1}}{{1 + {latex}\cdot {n}}} = {lam:.2f}",
        f"{percent(lam, 0)} comes from the peers, {percent(1 - lam, 0)} from the client itself.",
        shrink.weight_curve(result),
        drawn.holders(up.client[same].tolist(), up.counts[same].tolist(), int(up.client[row])),
    )


def weighs(result: Result, knob: float) -> Task:
    """What it costs to let every client weigh the same."""
    s = result.settings
    weighted, equal = (five_seeds(replace(s, count_weights=flag)) for flag in (True, False))
    by_counts, alike = (100 * mean_and_spread(found)[0] for found in (weighted, equal))
    gain = by_counts - alike
    answer = 0 if gain > 1 else 2 if gain < -1 else 1
    return Task(
        "The server averages the prototypes of a class. What if every client weighed the same, "
        "however many nodes it has?",
        ("accuracy falls", "less than a point either way", "accuracy rises"),
        answer,
        r"g_c = \mathrm{Norm}\Big(\sum_k n_{kc}\,\tilde p_{kc}\Big):\quad "
        rf"{by_counts:.1f}\,\% \ \text{{against}}\ {alike:.1f}\,\%",
        f"Counting is worth {gain:+.1f} points here (mean of five seeds).",
        drawn.two_means(weighted, equal),
        drawn.two_means(weighted, []),
    )


def classifies(result: Result, knob: float) -> Task:
    """Which class a test node is given."""
    nodes = result.prediction.nodes
    view = inspect(result, int(nodes[int(knob) % len(nodes)]))
    order = view.after.nan_to_num(-1.0).argsort(descending=True)[:3].tolist()
    names = result.graph.names
    options = sorted(order)
    best = float(view.after[view.predicted])
    right = "right" if view.predicted == view.true else f"wrong, it is a {names[view.true]}"
    return Task(
        f"Here is node {view.node}. Which class will SPEAR give it?",
        tuple(names[c] for c in options),
        options.index(view.predicted) if view.predicted in options else 0,
        rf"\hat y = \arg\max_c \cos(z, g_c),\quad \cos(z, g_{{{view.predicted}}}) = {best:.3f}",
        f"It says {names[view.predicted]}: {right}.",
        smooth.similarities(result, view),
        drawn.candidates(result, dense(result.graph, view.node), options)
        if CATALOGUE[result.graph.name].picture
        else drawn.raw_similarities(names, view.before.tolist(), None),
    )


def forgives(result: Result, knob: float) -> Task:
    """What skew does to sums that are added, and to regressions that are averaged."""
    s = result.settings
    betas = sorted({*SKEWS, s.beta})
    added, mean = zip(*(apart(replace(s, beta=beta)) for beta in betas), strict=True)
    now = betas.index(s.beta)
    choices = ("by more, the stronger the skew", "not at all", "by less, the stronger the skew")
    said = f"At β = {written('beta', s.beta)} the sums miss by {percent(added[now], 0)}, the mean "
    return Task(
        "A ridge regression needs two sums over nodes. Every client sends its own, the server adds "
        "them. By how much does skew move that regression from the one over all nodes at once?",
        choices,
        1 if max(added) < 1e-6 else 0 if added[0] > added[-1] else 2,
        r"\sum_k \sum_{i \in k} z_i z_i^\top = \sum_i z_i z_i^\top",
        f"{said}of the clients' own regressions by {percent(mean[now], 0)}. LANCE asks for such "
        "sums: SPEAR's means and counts give one part of them, residuals the rest.",
        drawn.sums_and_means(betas, list(mean), list(added), s.beta),
        drawn.sums_and_means(betas, list(mean), [], s.beta),
    )


STEPS: tuple[tuple[str, str, Callable[[Result, float], Task], str], ...] = (
    (
        "A graph is split",
        "Every client holds some nodes, and not the same classes.",
        splits,
        "beta",
    ),
    ("A client smooths", "Each node is mixed with its neighbours in the client.", smooths, "alpha"),
    ("A mean is an estimate", "One vector a class is sent: a mean.", estimates, "learn_n"),
    ("Few samples, large error", "Not every mean deserves trust.", few_samples, "clients"),
    ("Pull to the peers", "An uncertain prototype is moved to the others'.", pulls, "gamma"),
    ("Weigh by counts", "The server averages: who has more counts more.", weighs, "beta"),
    ("Classify", "A node is called after the nearest prototype.", classifies, "learn_node"),
    ("Why sums forgive skew", "Beyond SPEAR: sums do not care who adds.", forgives, "beta"),
)
