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
# # 1. One run
#
# The page of this notebook: [Explore](http://localhost:8501/) (start the app with `make app`).
#
# Ten clients share one graph; no client may see the others' part of it. Each smooths the features
# of its own nodes and sends, once, one mean vector a class and how many nodes are in it. The server
# pulls the uncertain means towards those of the other clients, averages them by count, and names a
# node after the nearest result. Nothing is trained.

# %%
from dataclasses import replace

from spear_core import Settings, figures, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
print(f"{100 * result.metrics.accuracy:.2f} % of {len(result.graph.test_nodes)} test nodes right")

# %% [markdown]
# `digits` is 1,797 small pictures of handwritten digits, each linked to the ten that look most like
# it. A class is a digit, a feature is a pixel.
#
# ## What was sent
#
# One row for every class that a client has training nodes of. A row is as wide as the features, so
# what is sent grows with the number of rows and with nothing else.

# %%
up = result.uploads
print(f"{len(up.client)} prototypes of width {up.features} from {up.clients} clients")
print(f"{figures.human_bytes(result.metrics.bytes_up_total)} in all, once")

# %% [markdown]
# ## The map
#
# Every dot is a picture of a digit; those that are alike lie together. A diamond is a mean that a
# client sent: the smaller, the fewer nodes are in it. A star is what the server made of all
# diamonds of one colour, a cross is the true middle of the class. A diamond from few nodes may lie
# far off; the stars lie near the crosses.

# %%
from spear_core.widgets import live_map

live_map(result)

# %% [markdown]
# ## How far each mean is trusted
#
# $$\lambda_{kc} = \frac{1}{1 + \gamma\, n_{kc}}$$
#
# is the share of client $k$'s mean of class $c$ that is taken from the other clients. Here are the
# smallest and the largest count of this run with their $\lambda$:

# %%
from IPython.display import Math

few, many, gamma = int(up.counts.min()), int(up.counts.max()), settings.gamma
Math(
    r",\qquad ".join(
        rf"n = {n}:\ \lambda = \frac{{1}}{{1 + {gamma:g} \cdot {n}}} = {1 / (1 + gamma * n):.2f}"
        for n in (few, many)
    )
)

# %% [markdown]
# And all of them. A row is a client: with a strong skew it knows few classes, so most cells are
# empty. A class that nobody else holds has no peers to be pulled to.

# %%
figures.weights(result)

# %% [markdown]
# ## How tightly the classes lie together
#
# The silhouette asks of every test node whether it is nearer to its own class (up to 1) or to
# another one (below 0). Smoothing moves it to the right.

# %%
m = result.metrics
print(f"raw {m.silhouette_raw:.3f}, smoothed {m.silhouette_smoothed:.3f}")
figures.silhouettes(result)

# %% [markdown]
# ## A prototype is a picture
#
# On `digits` a mean of features is a mean of pictures. These are the zeros: as the clients send
# them, after the pull, the server's, and the true mean of the test nodes.

# %%
figures.pictures(run(Settings(dataset="digits")), label=0)

# %% [markdown]
# ## Where it goes wrong
#
# A row is the true class, a column the class that was named; the diagonal is right.

# %%
figures.confusion(result)

# %% [markdown]
# ## One seed is no result
#
# The seed decides who holds what, and whose nodes carry a label. The paper averages over five.

# %%
import statistics

from spear_core import PAPER_SEEDS


def over_seeds(s):
    values = [100 * run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    return f"{statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f} %"


print(over_seeds(settings))

# %% [markdown]
# ## On Cora
#
# 2,708 papers, linked where one cites another; a feature is a word that occurs, a class is a topic.
# The same lines, another graph. The first time its files are read from `$SPEAR_DATA` or downloaded.

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
print("Cora:", over_seeds(cora.settings))
live_map(cora)

# %% tags=["cora"]
figures.weights(cora)

# %% [markdown]
# ## Exercise
#
# How many prototypes are sent when β grows from 0.05 to 10, and does accuracy follow? Guess, then
# write the loop yourself. The folded cell below has a solution.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
for beta in (0.05, 0.5, 10.0):
    one = run(replace(settings, beta=beta))
    print(f"β = {beta:5g}: {len(one.uploads.client):3} prototypes, {over_seeds(one.settings)}")

# %% [markdown]
# ## Explore it
#
# The page in a cell. Move a slider, click a node; `e.settings`, `e.result` and `e.selected` are
# what it shows, for the next cell to go on with.

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [the lesson](02_learn.ipynb).
