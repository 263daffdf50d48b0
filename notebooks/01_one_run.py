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
# Ten clients share one graph. Each smooths the features of its own nodes, sends one mean vector a
# class and a count, once. The server pulls uncertain means to their peers, averages by count and
# names a node after the nearest result. Nothing is trained.

# %%
from spear_core import Settings, figures, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
print(f"accuracy {100 * result.metrics.accuracy:.2f} %")

# %% [markdown]
# ## What was sent
#
# One row for every class that a client has training nodes of. A prototype is as wide as the
# features, so what is sent grows with the number of rows and with nothing else.

# %%
up = result.uploads
print(f"{len(up.client)} prototypes of width {up.features} from {up.clients} clients")
print(f"{figures.human_bytes(result.metrics.bytes_up_total)} in all")

# %% [markdown]
# ## How far each one is trusted
#
# $$\lambda_{kc} = \frac{1}{1 + \gamma\, n_{kc}}$$
#
# A prototype made from few nodes is pulled far ($\lambda$ near 1), one made from many stands for
# itself. Here is every client and class:

# %%
figures.weights(result)

# %% [markdown]
# ## A prototype is a picture
#
# On `digits` a mean of features is a mean of pictures. These are the zeros: as the clients send
# them, after shrinkage, the global one, and the true mean of the test nodes.

# %%
figures.pictures(run(Settings(dataset="digits")), label=0)

# %% [markdown]
# ## Where it goes wrong

# %%
figures.confusion(result)

# %% [markdown]
# ## One seed is no result
#
# The seed decides who holds what. The paper averages over five.

# %%
import statistics
from dataclasses import replace

from spear_core import PAPER_SEEDS

values = [100 * run(replace(settings, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
print(f"{statistics.mean(values):.2f} ± {statistics.pstdev(values):.2f} % over {PAPER_SEEDS}")

# %% [markdown]
# **To try:** set `dataset="Cora"` in the first cell. The first time, its files are read from
# `$SPEAR_DATA` or downloaded.
#
# Next: [the split](02_split.ipynb).
