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
# SPEAR compares a node with class means. A ridge regression also needs the scatter of the rows,
# but only as a *sum over nodes*, and sums over clients equal the central sum however skewed the
# labels are:
#
# $$W = A^\top (A A^\top + \lambda I)^{-1} D$$
#
# where the rows of $A$ are $\sqrt n\,(p - m)$ of every prototype, then the rows of the sketches.

# %% [markdown]
# ## In steps: the gate, the ridge, the sketch
#
# Each is a setting of its own; all three are LANCE.

# %%
from dataclasses import replace

from spear_core import PAPER_SEEDS, Settings, run
from spear_core.figures import beyond as figures
from spear_core.lance import lance, spear

s = Settings(dataset="digits")  # for Cora write dataset="Cora"
ways = {
    "SPEAR": spear(s),
    "+ gate": replace(s, smoothing="gated"),
    "+ ridge (rank 0)": replace(s, smoothing="gated", head="ridge"),
    "+ sketch: LANCE": lance(s),
}
found = {
    name: [100 * run(replace(one, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    for name, one in ways.items()
}
figures.steps(found)

# %% [markdown]
# ## What one node's score is made of

# %%
from spear_core.explain import node, words
from spear_core.explain.gate import gate_words

r = run(lance(s))
print(gate_words(r))
print(words.explain(r, node.inspect(r, int(r.prediction.nodes[0]))))

# %% [markdown]
# ## Eight datasets, stored
#
# `python -m spear_core.studies.lance_table` made the runs: LANCE less SPEAR in points, on the same
# seeds and splits. A Dirichlet split reads the labels of all nodes; Louvain and IID read none.

# %%
from spear_core.studies import beyond_tables as tables

figures.spreads(
    {part: tables.gains(part) for part in tables.PARTS}, "LANCE less SPEAR, points", True, ""
)

# %% [markdown]
# ## Where it loses
#
# Three of ten clients call every class by the next one's name
# (`python -m spear_core.studies.beyond`).

# %%
for (dataset, beta, what), (mean, std) in tables.under_liars().items():
    print(f"{dataset:9} β = {float(beta):<5g} {what:13} {mean:.1f} ± {std:.1f} %")

# %% [markdown]
# A sketch also says more of the nodes than means do, and with a finite ε no client sends one.
# Back to [one run](01_one_run.ipynb).
