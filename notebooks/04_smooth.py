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
# # 4. Smoothing
#
# The page of this notebook: [Smooth](http://localhost:8501/smooth).
#
# A client mixes every node with its neighbours before it averages:
#
# $$Z^{(t+1)} = (1 - \alpha)\,\tilde X + \alpha\,\hat A\,Z^{(t)}, \qquad
#   \hat A = \tilde D^{-1}(A + I), \qquad Z^{(0)} = \tilde X .$$
#
# $\alpha$ is the weight of the neighbours, $T$ the number of steps. $\hat A$ takes the mean over a
# node and its neighbours.

# %%
from dataclasses import replace

import torch
from IPython.display import Math

from spear_core import Settings, grid, make_graph, run
from spear_core.propagate import mixing, propagate

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)

# %% [markdown]
# ## By hand on five nodes
#
# A path 0–1–2–3–4. Node 0 carries the feature 1, all others 0. Every node averages over itself and
# its neighbours, so node 1 has three in its mean and node 0 two.

# %%
path = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
five = make_graph(
    x=torch.tensor([[1.0], [0], [0], [0], [0]]),
    edge_index=torch.cat([path, path.flip(0)], dim=1),
    y=torch.tensor([0, 0, 0, 1, 1]),
    train=torch.ones(5, dtype=torch.bool),
)
print(five.operator.to_dense())

# %% [markdown]
# One step with $\alpha = 0.5$:

# %%
z = propagate(five.operator, five.x.to_dense(), alpha=0.5, steps=1).flatten().tolist()
Math(
    rf"z_0 = 0.5 \cdot 1 + 0.5 \cdot \tfrac12 \cdot 1 = {z[0]:.4f}, \qquad "
    rf"z_1 = 0.5 \cdot 0 + 0.5 \cdot \tfrac13 \cdot 1 = {z[1]:.4f}, \qquad z_2 = {z[2]:g}"
)

# %% [markdown]
# Each further step lets the feature travel one edge further:

# %%
for steps in range(4):
    z = propagate(five.operator, five.x.to_dense(), alpha=0.5, steps=steps)
    print(f"T = {steps}:", [round(v, 4) for v in z.flatten().tolist()])

# %% [markdown]
# Written out, $Z = \sum_{t=0}^{T} w_t\,\hat A^t \tilde X$ with $w_t = (1-\alpha)\,\alpha^t$ and the
# rest, $\alpha^T$, on the last power. The weights always sum to one:

# %%
w = mixing(0.5, 3)
print([round(v, 4) for v in w], "sum", sum(w))

# %% [markdown]
# ## One node of a real graph
#
# A test node that SPEAR gets wrong with little smoothing. First whom it is mixed with: the inner
# ring are its neighbours, coloured by class.

# %%
from spear_core.explain.node import find, inspect
from spear_core.explain.words import explain
from spear_core.figures import smooth as figures

wrong = find(result, right=False)
view = inspect(result, int(result.prediction.nodes[0]) if wrong is None else wrong)
print(explain(result, view))
figures.neighbourhood(result, view)

# %% [markdown]
# How similar it is to every class: a ring is before smoothing, a dot after.

# %%
figures.similarities(result, view)

# %% [markdown]
# What it is made of after every step, by the class of those who contribute:

# %%
figures.mixture_by_class(result, view)

# %% [markdown]
# ## How the map moves
#
# Every dot is a node by its smoothed features, so another $\alpha$ makes another map. First none at
# all ($\alpha = 0$): clouds are wide, and some digits lie in a wrong one.

# %%
from spear_core.widgets import live_map

raw, strong = run(replace(settings, alpha=0.0)), run(replace(settings, alpha=0.8, steps=5))
live_map(raw)

# %% [markdown]
# And with a lot of it ($\alpha = 0.8$, $T = 5$): the same nodes, drawn together.

# %%
live_map(strong)

# %% [markdown]
# And in numbers, by the silhouette (1: classes far apart, below 0: mixed):

# %%
for one in (raw, result, strong):
    s = one.settings
    print(f"α = {s.alpha:4}, T = {s.steps}: {one.metrics.silhouette_smoothed:.3f}, ", end="")
    print(f"accuracy {100 * one.metrics.accuracy:.1f} %")

# %% [markdown]
# ## Accuracy over α
#
# `grid` gives all points at once.

# %%
alphas = [i / 20 for i in range(20)]
found = grid(settings, alphas, [settings.gamma], [settings.steps])
accuracy = (100 * found.accuracy.flatten()).tolist()
here = (settings.alpha, 100 * result.metrics.accuracy)
figures.curve(alphas, [accuracy], here, "alpha")

# %% [markdown]
# ## On Cora
#
# 81 of 100 citations stay inside a topic, and a paper by itself has few words: here looking further
# pays most. Without it ($\alpha = 0$) the topics are hardly to be told apart:

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
live_map(run(replace(cora.settings, alpha=0.0)))

# %% [markdown]
# With $\alpha = 0.8$, $T = 5$ they are islands:

# %% tags=["cora"]
live_map(run(replace(cora.settings, alpha=0.8, steps=5)))

# %% tags=["cora"]
points = (100 * grid(cora.settings, alphas, [0.5], [10]).accuracy.flatten()).tolist()
print(f"α = 0.15, T = 2: {100 * cora.metrics.accuracy:.1f} %", end=", ")
print(f"best α at T = 10: {max(points):.1f} %")
figures.curve(alphas, [points], (0.15, points[3]), "alpha")

# %% [markdown]
# ## Exercise
#
# On which graph does smoothing *harm*? `synthetic` makes one for every homophily: try 0.1 and 0.9.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
for homophily in (0.1, 0.5, 0.9):
    made = Settings(dataset="synthetic", nodes=1000, strength=0.3, homophily=homophily, beta=10.0)
    values = grid(made, [0.0, 0.8], [0.5], [2]).accuracy.flatten().tolist()
    print(f"homophily {homophily}: α = 0 {100 * values[0]:.1f} %, α = 0.8 {100 * values[1]:.1f} %")

# %% [markdown]
# ## Explore it
#
# α and T at the values on the right of the map above.

# %%
from spear_core.widgets import explore

e = explore(replace(settings, alpha=0.8, steps=5))
e

# %% [markdown]
# Next: [shrinkage](05_shrink.ipynb).
