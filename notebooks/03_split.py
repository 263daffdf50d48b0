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
# # 3. The split
#
# The page of this notebook: [Split](http://localhost:8501/split).
#
# A federation starts with data that lies in pieces. To study one, the pieces are made: every class
# is cut into shares, one a client.
#
# $$q_c \sim \mathrm{Dir}(\beta, \dots, \beta), \qquad \textstyle\sum_k q_{ck} = 1$$
#
# A small $\beta$ gives nearly all of a class to one client, a large one gives everybody the same.

# %%
from dataclasses import replace

from spear_core import Settings, load, run, split
from spear_core.figures import split as figures

settings = Settings(dataset="digits", beta=0.05)  # for Cora write dataset="Cora"
result = run(settings)
graph, partition = result.graph, result.partition
figures.holdings(result)

# %% [markdown]
# Read one column: a class. The formula with the numbers of class 0, its shares as they came out:

# %%
from IPython.display import Math

held = partition.counts[:, 0].double()
shares = r",\ ".join(f"{float(v):.2f}" for v in held / held.sum())
Math(rf"q_0 = ({shares}), \qquad \beta = {settings.beta:g}, \quad K = {settings.clients}")

# %% [markdown]
# The same graph with $\beta = 10$: every client is a small copy of the whole.

# %%
mild = run(replace(settings, beta=10.0))
figures.holdings(mild)

# %% [markdown]
# ## How large clients are

# %%
figures.sizes(result)

# %% [markdown]
# ## A partition is one vector
#
# `owner[i]` names the client of node $i$. Leaving out every edge between two owners makes $K$
# separate graphs, so one sparse product smooths all clients at once.

# %%
print("owners of the first ten nodes:", partition.owner[:10].tolist())
print(f"{partition.cut_edges} of {graph.num_edges} edges are cut")

# %% [markdown]
# ## What is lost with the cut edges
#
# Each dot is a client: its size, and the share of its edges that join two nodes of one class. A
# client that holds one class only has no edge to another, so inside clients neighbours are *more*
# alike than in the graph they come from.

# %%
figures.homophily(result)

# %% [markdown]
# ## Small enough to see
#
# Zachary's karate club, 34 people in three clients. Colours are clients, dashed edges are cut.

# %%
figures.small_graph(run(Settings(dataset="karate", clients=3)))

# %% [markdown]
# ## The map of strong and of mild skew
#
# The dots are the same. On the left a class is one or two diamonds, on the right one for nearly
# every client: each from fewer nodes, so further from its star.

# %%
from spear_core.widgets import live_map

live_map(result, mild)

# %% [markdown]
# ## On Cora

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
part = cora.partition
print(
    f"{part.cut_edges} of {cora.graph.num_edges} edges cut, {len(cora.uploads.client)} prototypes"
)
figures.holdings(cora)

# %% [markdown]
# ## Exercise
#
# How do the share of cut edges and the number of prototypes depend on $\beta$? Why do both grow?

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
# a class that is shared by many is sent by many, and its edges run between many
for beta in (0.01, 0.1, 1.0, 10.0):
    part = split(load(settings), replace(settings, beta=beta))
    print(f"β = {beta:5}: {100 * part.cut_edges / graph.num_edges:4.1f} % cut, ", end="")
    print(f"{int((part.train_counts > 0).sum())} prototypes")

# %% [markdown]
# ## Explore it
#
# Move β and K and watch λ's table fill and empty.

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [smoothing](04_smooth.ipynb).
