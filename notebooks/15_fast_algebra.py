# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 15. The fast algebra
#
# No page of its own: every page answers by it, [Explore](http://localhost:8501/) first of all.
#
# Written as in the paper, every client smooths a matrix of width $F$ (1,433 on Cora). The same
# numbers come out when nothing of width $F$ travels over the graph.

# %% [markdown]
# ## Prototypes
#
# Smoothing is linear: $Z = \Pi \tilde X$. A prototype is a mean, $P = S^\top Z$, with
# $S_{ic} = 1/n_c$ for the training nodes of class $c$. So
#
# $$P = S^\top \Pi \tilde X = (\Pi^\top S)^\top \tilde X :$$
#
# propagate the $C$ columns of $S$, then multiply with the features once.

# %%
import torch

from spear_core import Settings, load, run
from spear_core.explicit import dense_features, run_explicit, smooth
from spear_core.propagate import propagate

settings = Settings(dataset="digits", clients=1)  # for Cora write dataset="Cora"
graph = load(settings)
s = torch.zeros(graph.num_nodes, graph.classes)
for c in range(graph.classes):
    rows = graph.train_nodes[graph.y[graph.train_nodes] == c]
    s[rows, c] = 1 / len(rows)
slow = s.T.double() @ smooth(
    dense_features(graph), graph.edge_index, settings.alpha, settings.steps
)
fast = graph.collect(propagate(graph.operator_t, s, settings.alpha, settings.steps))
print(f"widths on the graph: {graph.num_features} against {graph.classes}")
print("largest difference below 1e-6:", bool((slow - fast).abs().max() < 1e-6))

# %% [markdown]
# ## Clients at once
#
# With the edges between clients dropped, clients do not mix: row $i$ of $\Pi^\top S$ belongs to the
# client of node $i$. One $N \times C$ matrix serves all of them, however many there are.

# %% [markdown]
# ## The server's sum
#
# $$g_c \propto \sum_k n_{kc}\,\tilde p_{kc} = \sum_k \omega_{kc}\,p_{kc}, \qquad
#   \omega_{kc} = n_{kc}(1-\lambda_{kc}) + \sum_{j\neq k} \frac{n_{jc}\lambda_{jc}}{|S_c|-1} .$$
#
# Each shrunk prototype is itself a mixture of uploads, so the weights can be put into $S$ before
# the propagation, and $K$ drops out too.

# %%
from spear_core.server import mixture

result = run(Settings(dataset="digits", beta=0.5))
lam, omega, _ = mixture(result.uploads, result.settings)
direct = torch.zeros(10, graph.num_features).index_add_(
    0, result.uploads.label, result.uploads.counts[:, None] * result.estimate.shrunk
)
short = result.uploads.combine(omega)
print("same sum:", torch.allclose(direct, short, atol=1e-4))

# %% [markdown]
# Every prototype's $n$ is handed on, none is lost: its own part and what its peers take of it.

# %%
from IPython.display import Math

n = result.uploads.counts
k = int(n.argmin())
own = float(n[k]) * (1 - float(lam[k]))
Math(
    rf"n = {int(n[k])},\ \lambda = {float(lam[k]):.2f}:\quad n(1-\lambda) = {own:.2f},\quad "
    rf"\omega = {float(omega[k]):.2f}, \qquad "
    rf"\sum n = {float(n.sum()):.0f},\ \sum \omega = {float(omega.sum()):.0f}"
)

# %% [markdown]
# ## Scores
#
# $z_i \cdot g_c = (\Pi \tilde X g_c)_i = (\Pi\,(\tilde X g_c))_i$: project to $C$ columns first,
# propagate those. The length of $z_i$ does not change which class wins.

# %% [markdown]
# ## Exact?
#
# Against the loop over clients in double precision, on all nodes:

# %%
other = run_explicit(result.partition, result.settings)
same = result.every_prediction.labels == other.labels
print(f"{int(same.sum())} of {len(same)} predictions are the same")

# %% [markdown]
# ## A whole grid from the same powers
#
# $\Pi = \sum_t w_t \hat A^t$ with weights that depend on α and T alone. Keep the powers, and every
# point of an α × γ × T grid is a recombination.

# %% tags=["timed"]
import time

from spear_core import grid

alphas, gammas, steps = (
    (0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9),
    (0, 0.1, 0.3, 0.5, 1, 2),
    (1, 2, 3, 4, 5),
)
start = time.perf_counter()
points = grid(result.settings, alphas, gammas, steps)
print(f"{points.accuracy.numel()} points in {1000 * (time.perf_counter() - start):.0f} ms here")

# %% [markdown]
# ## On Cora
#
# The same two checks on a graph with 1,433 features.

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
print(f"widths on the graph: {cora.graph.num_features} against {cora.graph.classes}")
other = run_explicit(cora.partition, cora.settings)
same = cora.every_prediction.labels == other.labels
print(f"{int(same.sum())} of {len(same)} predictions are the same")

# %% [markdown]
# ## Exercise
#
# Write down the weights $w_t$ for $\alpha = 0.5$ and $T = 3$, and check that they sum to one.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
from spear_core.propagate import mixing

# (1 - α) α^t for t < T, and α^T at the end: 0.5, 0.25, 0.125, 0.125
print(mixing(0.5, 3), sum(mixing(0.5, 3)))

# %% [markdown]
# ## Explore it
#
# Every move of a slider is one such run.

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Back to [one run](01_explore.ipynb).
