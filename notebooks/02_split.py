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
# # 2. The split
#
# The page of this notebook: [Split](http://localhost:8501/split).
#
# A federation starts with a graph that is already in pieces. We make the pieces: every class is
# cut into shares $q \sim \mathrm{Dir}(\beta)$, one share a client. A small $\beta$ gives nearly
# all of a class to one client, a large one gives everybody the same.

# %%
from dataclasses import replace

from spear_core import Settings, load, split
from spear_core.figures import split as figures
from spear_core.run import run

settings = Settings(dataset="digits", beta=0.05)  # for Cora write dataset="Cora"
result = run(settings)
figures.holdings(result)

# %% [markdown]
# The same graph with $\beta = 10$:

# %%
figures.holdings(run(replace(settings, beta=10.0)))

# %% [markdown]
# ## A partition is one vector
#
# `owner[i]` names the client of node $i$. Dropping every edge between two owners leaves $K$
# separate graphs, so one sparse product smooths all clients at once.

# %%
graph = load(settings)
partition = split(graph, settings)
print("owners of the first ten nodes:", partition.owner[:10].tolist())
print("nodes of every client:", partition.sizes.tolist())
print(f"{partition.cut_edges} of {graph.num_edges} edges are cut")

# %% [markdown]
# ## What is lost with the cut edges
#
# Each dot is a client: its size, and the share of its edges that join two nodes of one class.
# Skew makes clients *more* homophilous than the graph they come from: who holds one class only has
# no edge to another.

# %%
figures.homophily(result)

# %% [markdown]
# ## Small enough to see
#
# Zachary's karate club with three clients. Dashed edges are cut.

# %%
figures.small_graph(run(Settings(dataset="karate", clients=3)))

# %% [markdown]
# ## Cut edges over β

# %%
for beta in (0.01, 0.1, 1.0, 10.0):
    part = split(graph, replace(settings, beta=beta))
    print(f"β = {beta:5}: {100 * part.cut_edges / graph.num_edges:4.1f} % cut, ", end="")
    print(f"{int((part.train_counts > 0).sum())} prototypes")

# %% [markdown]
# Next: [smoothing](03_smoothing.ipynb).
