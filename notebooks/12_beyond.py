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
# # 12. Beyond SPEAR: the same message, read better
#
# The page of this notebook: [Beyond](http://localhost:8501/beyond).
#
# SPEAR compares a node with class means. A ridge regression also needs the scatter of the rows, but
# only as a *sum over nodes*, and sums over clients equal the central sum however skewed the labels
# are:
#
# $$W = A^\top (A A^\top + \lambda I)^{-1} D$$
#
# where the rows of $A$ are $\sqrt n\,(p - m)$ of every prototype $p$ of $n$ nodes ($m$ is the mean
# of all), then a few rows, the *sketch*, that the means leave out. LANCE is that, with a *gate*
# that smooths harder where neighbours are alike.

# %%
from dataclasses import replace

from IPython.display import Math

from spear_core import PAPER_SEEDS, Settings, run
from spear_core.figures import beyond as figures
from spear_core.lance import lance, spear

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(lance(settings))
residuals = result.sent.residuals
Math(
    rf"A\text{{ has }} {len(result.uploads.client)}\text{{ rows of means and }}"
    rf"{len(residuals.owner)}\text{{ of the sketch, each }}{result.graph.num_features}"
    r"\text{ wide}"
)

# %% [markdown]
# ## In steps: the gate, the ridge, the sketch
#
# Each is a setting of its own; all three are LANCE. A dot is a seed.

# %%
ways = {
    "SPEAR": spear(settings),
    "+ gate": replace(settings, smoothing="gated"),
    "+ ridge (rank 0)": replace(settings, smoothing="gated", head="ridge"),
    "+ sketch: LANCE": lance(settings),
}


def five(s):
    return [100 * run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]


figures.steps({name: five(way) for name, way in ways.items()})

# %% [markdown]
# ## The gate
#
# How hard to smooth is read from features and edges alone: how much more alike linked nodes are
# than any two.

# %%
from spear_core.lance.affinity import affinity
from spear_core.studies import beyond_tables as tables

here = (result.graph.name, float(affinity(result.graph).value))
figures.affinities(tables.affinities(), settings.gate, here)

# %% [markdown]
# ## What one node's score is made of

# %%
from spear_core.explain import node, words
from spear_core.explain.gate import gate_words

print(gate_words(result))
print(words.explain(result, node.inspect(result, int(result.prediction.nodes[0]))))

# %% [markdown]
# ## Eight datasets, stored
#
# LANCE less SPEAR in points, on the same seeds and splits. A Dirichlet split reads the labels of
# all nodes; Louvain and IID read none, so they are the fairer half.

# %%
gains = {part: tables.gains(part) for part in tables.PARTS}
figures.spreads(gains, "LANCE less SPEAR, points", True, "")

# %% [markdown]
# ## Where it loses
#
# Three of ten clients call every class by the next one's name.

# %%
lied = tables.under_liars()
names = ("SPEAR", "LANCE", "LANCE, agreement")
series = {
    name: {f"{d}, β = {float(b):g}": lied[d, b, v] for d, b, v in lied if v == name}
    for name in names
}
figures.spreads(series, "accuracy")

# %% [markdown]
# A sketch also says more of the nodes than means do, and with a finite ε no client sends one.
#
# ## On Cora

# %% tags=["cora"]
cora = Settings(dataset="Cora")
steps = {
    "SPEAR": five(spear(cora)),
    "+ gate": five(replace(cora, smoothing="gated")),
    "+ ridge (rank 0)": five(replace(cora, smoothing="gated", head="ridge")),
    "+ sketch: LANCE": five(lance(cora)),
}
figures.steps(steps)

# %% [markdown]
# ## Exercise
#
# How many rows must a client add? Try the ranks 0, 2, 8 and 32 (`sketch=`), with the bytes they
# cost.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
for rank in (0.0, 2.0, 8.0, 32.0):
    one = run(replace(lance(settings), sketch=rank))
    kib = one.metrics.bytes_up_per_client / 1024
    print(f"rank {rank:3g}: {100 * one.metrics.accuracy:.1f} %, {kib:.1f} KiB a client")

# %% [markdown]
# ## Explore it
#
# *Estimator* switches between the two.

# %%
from spear_core.widgets import explore

e = explore(lance(settings))
e

# %% [markdown]
# Next: [from a notebook to a federation](13_deploy.ipynb).
