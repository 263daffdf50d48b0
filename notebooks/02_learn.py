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
# # 2. The method in seven questions
#
# The page of this notebook: [Learn](http://localhost:8501/learn).
#
# Each step asks something. Answer before you run the cell below it: a wrong guess that is put right
# stays longer than a right answer that was read.

# %%
from dataclasses import replace

import torch
from IPython.display import Math

from spear_core import PAPER_SEEDS, Settings, run
from spear_core.figures import lesson, shrink, smooth, split

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
names = result.graph.names

# %% [markdown]
# ## Step 1. A graph is split
#
# Every client holds some of the nodes. *How many of the classes does a typical client know?*

# %%
known = (result.partition.train_counts > 0).sum(1)
print(f"of {len(names)} classes the clients know {known.tolist()}")
split.holdings(result, training=True)

# %% [markdown]
# ## Step 2. A client smooths
#
# Each node is mixed with its neighbours inside the client: $z = (1-\alpha)\,x + \alpha\,\hat A z$.
# *Take a node that SPEAR gets wrong. Does mixing make it more or less similar to its own class?*

# %%
from spear_core.explain.node import find, inspect

wrong = find(result, right=False)
view = inspect(result, int(result.prediction.nodes[0]) if wrong is None else wrong)
before, after = float(view.before[view.true]), float(view.after[view.true])
Math(
    rf"\text{{node }}{view.node}\text{{, class {names[view.true]}: }}"
    rf"\cos = {before:.3f} \to {after:.3f}"
)

# %% [markdown]
# A ring is the similarity before smoothing, a dot after it. The dot that is furthest to the right
# names the class.

# %%
smooth.similarities(result, view)

# %% [markdown]
# ## Step 3. A mean is an estimate
#
# *The mean of $n$ nodes misses the true mean by some squared distance. What becomes of it with four
# times as many nodes?*

# %%
label = int(torch.bincount(result.graph.y[result.graph.test_nodes]).argmax())
nodes = result.graph.test_nodes
pool = torch.nn.functional.normalize(result.z[nodes[result.graph.y[nodes] == label]], dim=1)
draw, sizes, errors = torch.Generator().manual_seed(0), [1, 2, 4, 8, 16], []
for n in sizes:
    picks = torch.randint(len(pool), (400, n), generator=draw)  # 400 means of n nodes
    errors.append(float((pool[picks].mean(1) - pool.mean(0)).square().sum(1).mean()))
Math(
    r"\mathrm{E}\,\|p - \mu\|^2 = \sigma_0^2 / n:\quad "
    rf"n = 2:\ {errors[1]:.3f},\quad n = 8:\ {errors[3]:.3f}"
)

# %%
lesson.error_of_means(sizes, errors, 2)

# %% [markdown]
# ## Step 4. Few samples, large error
#
# *Of all prototypes that are sent: which should you trust least?* Every dot is one, by its number
# of nodes and its distance to the truth.

# %%
from spear_core.figures import theory
from spear_core.measures.prototype_error import TEST
from spear_core.studies.risk_check import check

theory.error_over_count(check(result, TEST), names)

# %% [markdown]
# ## Step 5. Pull to the peers
#
# *A client made a mean from one node, and γ is 0.5. Which part of it should come from the others?*

# %%
n, gamma = 1, settings.gamma
Math(
    r"\lambda = \frac{1}{1 + \gamma n} = "
    rf"\frac{{1}}{{1 + {gamma:g} \cdot {n}}} = {1 / (1 + gamma * n):.2f}"
)

# %%
shrink.weight_curve(result)

# %% [markdown]
# ## Step 6. Weigh by counts
#
# The server averages the prototypes of a class. *What if every client weighed the same, however
# many nodes it has?*


# %%
def accuracies(s):
    return [run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]


counted, alike = accuracies(settings), accuracies(replace(settings, count_weights=False))
gain = 100 * (sum(counted) - sum(alike)) / len(PAPER_SEEDS)
print(f"counting is worth {gain:+.1f} points, mean of five seeds")
lesson.two_means(counted, alike)

# %% [markdown]
# ## Step 7. Classify
#
# A node is called after the nearest star. *Which of the three nearest is it?*

# %%
view = inspect(result, int(result.prediction.nodes[0]))
best = view.after.argsort(descending=True)[:3].tolist()
for c in best:
    print(f"cos(z, g) = {float(view.after[c]):.3f} to class {names[c]}")
print(f"so it is called {names[view.predicted]}; it is {names[view.true]}")

# %% [markdown]
# ## And beyond
#
# A mean of regressions goes astray when clients know different classes; *sums* of rows do not care
# who adds them. [Beyond SPEAR](12_beyond.ipynb) builds on that.
#
# ## On Cora
#
# The two numbers that decide, steps 1 and 6, on a graph of citations:

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
print("classes known:", (cora.partition.train_counts > 0).sum(1).tolist())
counted, alike = accuracies(cora.settings), accuracies(replace(cora.settings, count_weights=False))
print(f"counting is worth {100 * (sum(counted) - sum(alike)) / len(PAPER_SEEDS):+.1f} points")
lesson.two_means(counted, alike)

# %% [markdown]
# ## Exercise
#
# In step 5, from how many nodes on does a prototype keep more than nine tenths of itself?

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
# λ < 0.1 means 1 + γ n > 10, so n > 9 / γ
print(f"n > {9 / gamma:g}")
enough = result.uploads.counts > 9 / gamma
print(f"{int(enough.sum())} of {len(enough)} prototypes have that many")

# %% [markdown]
# ## Explore it

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [the split](03_split.ipynb).
