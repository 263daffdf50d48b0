"""The present view as a notebook, in the form of those in `notebooks/`: prose, formula, code."""

import json
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "notebooks"
PAGES: dict[str, tuple[str, str, str]] = {  # page -> its notebook, what it is about, its formula
    "explore": (
        "01_one_run",
        "Clients send one mean a class and a count; the server pulls uncertain means to their "
        "peers, averages by count and names a node after the nearest result.",
        r"\lambda_{kc} = \frac{1}{1 + \gamma\, n_{kc}}",
    ),
    "learn": (
        "01_one_run",
        "The method in seven steps; here is the run that the lesson asks about.",
        r"\hat y = \arg\max_c \cos(z, g_c)",
    ),
    "split": (
        "02_split",
        "Every class is cut into shares, one a client; a small β gives nearly all of it to one.",
        r"q \sim \mathrm{Dir}(\beta)",
    ),
    "smooth": (
        "03_smoothing",
        "Every node is mixed with its neighbours before anything is averaged.",
        r"Z^{(t+1)} = (1 - \alpha)\,\tilde X + \alpha\,\hat A\,Z^{(t)}",
    ),
    "shrink": (
        "04_shrinkage",
        "A prototype from few nodes is pulled towards those of its peers.",
        r"\tilde p = (1 - \lambda)\,p + \lambda\,\bar p, \qquad \lambda = \frac{1}{1 + \gamma n}",
    ),
    "noise": (
        "06_robustness",
        "Edges, features and labels of the clients are spoilt; what is measured against stays "
        "clean.",
        r"\rho E / 2 \text{ edges deleted, } \rho E / 2 \text{ added}",
    ),
    "attack": (
        "06_robustness",
        "Some clients lie; the server checks what cannot be true and may defend itself.",
        r"y \to y + 1, \qquad n \to r\,n",
    ),
    "privacy": (
        "09_privacy",
        "Noise on sums and counts hides what a single node is.",
        r"\sigma = \Delta / \mu(\varepsilon, \delta)",
    ),
    "sensitivity": (
        "07_sensitivity",
        "Every combination is run with the paper's five seeds.",
        r"\Pi = \sum_t w_t \hat A^t",
    ),
    "paper": (
        "08_ablation",
        "What the paper prints, beside what was measured.",
        r"\text{mean} \pm \text{standard deviation over five seeds}",
    ),
    "compare": (
        "10_compare",
        "A trained method on the very same split.",
        r"\theta \leftarrow \sum_k p_k\,\theta_k",
    ),
    "deploy": (
        "11_deploy",
        "What a federation of these clients would send.",
        r"4\,|C_k|\,(F + 2) \text{ bytes a client}",
    ),
}


def mirror(page: str) -> Path:
    """The notebook in the project that mirrors a page."""
    return FOLDER / f"{PAGES[page][0]}.ipynb"


def view_notebook(title: str, page: str, address: str, code: str) -> str:
    """A notebook that gives what a page shows, ready to run in the project's folder."""
    head, _, rest = code.partition("r = run(s)")
    _, about, formula = PAGES[page]
    cells = [
        _prose(
            f"# {title}\n\nThe page of this notebook: [{page.capitalize()}]({address})\n\n{about}"
        ),
        _code(head.strip()),
        _prose(f"## The run\n\n$${formula}$$"),
        _code(
            'r = run(s)\nprint(f"{s.dataset}: accuracy {100 * (r.metrics.accuracy or 0):.2f} %")'
        ),
    ]
    if rest.strip():
        cells += [_prose("## What the page shows"), _code(rest.strip())]
    cells.append(_prose("**To try:** change one value in the first cell and run all again."))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def _prose(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, object]:
    empty: Sequence[object] = []
    return {
        "cell_type": "code",
        "metadata": {},
        "source": text,
        "outputs": empty,
        "execution_count": None,
    }
