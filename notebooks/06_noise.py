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
# # 6. Noise
#
# The page of this notebook: [Noise](http://localhost:8501/noise).
#
# Real data has wrong edges, missing features and wrong labels. Three rates say how much of each a
# client's data has; what is tested on stays clean.
#
# $$\frac{\rho E}{2} \text{ edges deleted and as many random ones added},\qquad
#   x_{ij} \to 0 \text{ with probability } \eta,\qquad
#   y_i \to \text{another class with probability } q$$

# %%
import statistics
from dataclasses import replace

from IPython.display import Math

from spear_core import PAPER_SEEDS, Settings, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
clean = run(settings)


def over_seeds(s):
    values = [100 * run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    return f"{statistics.mean(values):.1f} ± {statistics.pstdev(values):.1f} %"


edges = clean.graph.num_edges - clean.partition.cut_edges
Math(
    rf"\rho = 0.5,\ E = {edges}:\quad {edges // 4}\text{{ edges deleted, }}{edges // 4}"
    rf"\text{{ added (each direction counted)}}"
)

# %% [markdown]
# ## What each kind costs
#
# Mean and spread over the five seeds.

# %%
print("clean", over_seeds(settings))
for rate in (0.25, 0.5, 0.9):
    edges = over_seeds(replace(settings, edge_noise=rate))
    masked = over_seeds(replace(settings, feature_noise=rate))
    wrong = over_seeds(replace(settings, label_noise=rate))
    print(f"rate {rate}: edges {edges}, features {masked}, labels {wrong}")

# %% [markdown]
# ## Does smoothing repair it?
#
# Accuracy over the share of masked features, with smoothing and without ($\alpha = 0$). Bands are
# one standard deviation. Look at the distance of the two lines: a mean over neighbours fills in
# what is missing.

# %%
from spear_core.explain.noise_curve import words
from spear_core.figures import noise as figures
from spear_core.studies.noise_curve import curve

masked = curve(settings, "feature_noise")
print(words(masked))
figures.over_rate(masked)

# %% [markdown]
# The distance itself, run by run: above 0 smoothing helps.

# %%
figures.smoothing_gain(masked)

# %% [markdown]
# The same for edges. A client that knows few classes can hardly get a wrong edge, so random edges
# inside clients do little harm.

# %%
spoilt = curve(settings, "edge_noise")
print(words(spoilt))
figures.over_rate(spoilt)

# %% [markdown]
# And for labels: a wrong label puts a node into the wrong mean; neighbours repair little of
# that.

# %%
wrong = curve(settings, "label_noise")
print(words(wrong))
figures.over_rate(wrong)

# %% [markdown]
# ## On the map
#
# Left clean, right with half of the training labels wrong: diamonds leave their clouds.

# %%
from spear_core.widgets import live_map

live_map(clean, run(replace(settings, label_noise=0.5)))

# %% [markdown]
# ## On Cora

# %% tags=["cora"]
cora = curve(Settings(dataset="Cora"), "feature_noise")
print(words(cora))
figures.over_rate(cora)

# %% [markdown]
# ## Exercise
#
# What if the graph that is tested on is as noisy as the clients'? `noise_test=True` says so. Which
# of the two, prototypes or test nodes, suffers more from masked features?

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
# a prototype averages many nodes, a test node stands alone with its neighbours
for where in (False, True):
    print(where, over_seeds(replace(settings, feature_noise=0.9, noise_test=where)))

# %% [markdown]
# ## Explore it
#
# Half of the labels wrong; more smoothing, or fewer clients?

# %%
from spear_core.widgets import explore

e = explore(replace(settings, label_noise=0.5))
e

# %% [markdown]
# Next: [clients that lie](07_attack.ipynb).
