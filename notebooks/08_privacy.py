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
# # 8. Privacy
#
# The page of this notebook: [Privacy](http://localhost:8501/privacy).
#
# A prototype is a mean. With $n = 1$ it is one node, smoothed. How much does that give away, and
# what does hiding it cost?

# %%
import math
from dataclasses import replace

from IPython.display import Math

from spear_core import Settings, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
alone = int((result.uploads.counts == 1).sum())
print(f"{alone} of {len(result.uploads.counts)} prototypes stand for a single node")

# %% [markdown]
# ## Who is exposed
#
# The cosine of every upload to the node nearest to it, of all nodes in the graph. A dotted frame
# marks $n = 1$: that upload *is* a node.

# %%
from spear_core.figures import privacy as figures
from spear_core.studies.exposure import exposure

seen = exposure(result)
print(f"{int(seen.found[seen.alone].sum())} of {alone} lone nodes are found by looking")
figures.exposed(result, seen)

# %% [markdown]
# ## Was this node in the mean?
#
# 0.5 is a coin, 1 is certainty. The fewer nodes in a mean, the surer an onlooker can be.

# %%
figures.membership(result, seen)

# %% [markdown]
# ## Noise
#
# A client releases the sum of its smoothed nodes and their number for every class. If one node had
# other features and another label, the sums would move by at most $\Delta$; Gaussian noise of width
# $\sigma = \Delta/\mu(\varepsilon, \delta)$ hides that move. `docs/privacy.md` derives $\Delta$.

# %%
from spear_core.transforms.privacy import noise, sensitivity

moved = float(sensitivity(result.held, settings).max())


def width(epsilon):
    return noise(moved, result.graph.num_features, replace(settings, epsilon=epsilon))


Math(
    rf"\Delta = {moved:.2f}:\qquad "
    + r",\quad ".join(
        rf"\varepsilon = {e:g}:\ \sigma = {width(e).sums:.3g}" for e in (1.0, 10.0, 100.0)
    )
)

# %% [markdown]
# A sum of $n$ unit vectors is at most $n$ long, and here $n$ is 1 to 20. So the price is high: mean
# and spread over seeds and draws of the noise.

# %%
from spear_core.explain.privacy_cost import words
from spear_core.studies.privacy_cost import privacy_cost

cost = privacy_cost(settings)
print(*words(cost), sep="\n")
figures.accuracy_over_epsilon(cost)

# %% [markdown]
# What it hides: the same heat map with $\varepsilon = 30$.

# %%
private = run(replace(settings, epsilon=30.0))
hidden = exposure(private)
print(f"{int(hidden.found[hidden.alone].sum())} of {alone} lone nodes are found", end=", ")
print(f"{100 * private.metrics.accuracy:.1f} % of the test nodes right")
figures.exposed(private, hidden)

# %% [markdown]
# ## On the map
#
# Left without noise, right with $\varepsilon = 30$; a hollow prototype is unlike any node.

# %%
from spear_core.widgets import live_map

live_map(result, private)

# %% [markdown]
# ## On Cora

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
shown = exposure(cora)
print(f"{int(shown.found[shown.alone].sum())} of {int(shown.alone.sum())} lone nodes are found")
figures.exposed(cora, shown)

# %% [markdown]
# ## Exercise
#
# With fewer clients each mean has more nodes in it. Does noise of the same $\varepsilon$ cost less
# then? Try $K = 2$ and $\beta = 10$ at $\varepsilon = 10$.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
for clients in (10, 2):
    for epsilon in (10.0, math.inf):
        s = replace(settings, clients=clients, beta=10.0, epsilon=epsilon)
        print(f"K = {clients:2}, ε = {epsilon:6g}: {100 * run(s).metrics.accuracy:.1f} %")

# %% [markdown]
# ## Explore it

# %%
from spear_core.widgets import explore

e = explore(replace(settings, epsilon=30.0))
e

# %% [markdown]
# Next: [sensitivity](09_sensitivity.ipynb).
