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
# # 3. Smoothing
#
# The page of this notebook: [Smooth](http://localhost:8501/smooth).
#
# A client mixes every node with its neighbours before it averages:
#
# $$Z^{(t+1)} = (1 - \alpha)\,\tilde X + \alpha\,\hat A\,Z^{(t)}, \qquad
#   \hat A = \tilde D^{-1}(A + I), \qquad Z^{(0)} = \tilde X .$$
#
# $\alpha$ is the weight of the neighbours, $T$ the number of steps.

# %% [markdown]
# ## By hand on five nodes
#
# A path 0–1–2–3–4. Node 0 carries the feature 1, all others 0. Every node averages over itself and
# its neighbours, so node 1 has three in its mean and node 0 two.

# %%
import torch

from spear_core import make_graph
from spear_core.propagate import mixing, propagate

path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
five = make_graph(
    x=torch.tensor([[1.0], [0], [0], [0], [0]]),
    edge_index=torch.cat([path, path.flip(0)], dim=1),
    y=torch.tensor([0, 0, 0, 1, 1]),
    train=torch.ones(5, dtype=torch.bool),
)
print(five.operator.to_dense())

# %% [markdown]
# One step with $\alpha = 0.5$: node 0 keeps $0.5 \cdot 1 + 0.5 \cdot \tfrac12 = 0.75$, node 1 gets
# $0.5 \cdot \tfrac13 = 0.1667$, the others nothing yet.

# %%
for steps in range(4):
    z = propagate(five.operator, five.x.to_dense(), alpha=0.5, steps=steps)
    print(f"T = {steps}:", [round(v, 4) for v in z.flatten().tolist()])

# %% [markdown]
# ## A sum of powers
#
# Written out, $Z = \sum_{t=0}^{T} w_t\,\hat A^t \tilde X$ with $w_t = (1-\alpha)\,\alpha^t$ and the
# rest, $\alpha^T$, on the last power. The weights always sum to one.

# %%
w = mixing(0.5, 3)
powers = [
    torch.linalg.matrix_power(five.operator.to_dense(), t) @ five.x.to_dense() for t in range(4)
]
print([round(v, 4) for v in w], "sum", sum(w))
print([round(v, 4) for v in sum(a * b for a, b in zip(w, powers, strict=True)).flatten().tolist()])

# %% [markdown]
# ## One node of a real graph
#
# `digits` joins every picture with the ten most similar. Here is a test node that SPEAR gets wrong
# with little smoothing, and what more smoothing makes of it.

# %%
from spear_core import Settings, run
from spear_core.datasets.catalogue import CATALOGUE
from spear_core.explain.node import find, inspect
from spear_core.explain.words import explain
from spear_core.figures import smooth as figures

result = run(Settings(dataset="digits"))  # for Cora write dataset="Cora"
node = find(result, right=False)
view = inspect(result, node)
print(explain(result, view))
figures.similarities(result, view)

# %%
pictured = CATALOGUE[result.graph.name].picture
figures.pictures(result, view) if pictured else figures.neighbourhood(result, view)

# %% [markdown]
# ## Accuracy over α
#
# Where neighbours are alike, looking further helps.

# %%
from spear_core import grid

alphas = (0.0, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9)
points = grid(result.settings, alphas, [0.5], [1, 2, 10])
for i, alpha in enumerate(alphas):
    row = ", ".join(f"{100 * a:.1f}" for a in points.accuracy[i, 0].tolist())
    print(f"α = {alpha:4}: T = 1, 2, 10 give {row} %")

# %% [markdown]
# ## And on Cora
#
# Change `dataset="digits"` to `dataset="Cora"` above and the same lines give Cora's curve: 63 % at
# the paper's $\alpha = 0.15$, 78.9 % at $\alpha = 0.9$, $T = 10$ (five seeds).
#
# Next: [shrinkage](04_shrinkage.ipynb).
