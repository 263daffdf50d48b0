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
# # 9. Privacy
#
# The page of this notebook: [Privacy](http://localhost:8501/privacy).
#
# A prototype is a mean. With $n = 1$ it is one node, smoothed. How much does that give away, and
# what does noise cost?

# %%
from dataclasses import replace

from spear_core import Settings, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
alone = int((result.uploads.counts == 1).sum())
print(f"{alone} of {len(result.uploads.counts)} prototypes stand for a single node")

# %% [markdown]
# ## Who is exposed
#
# The nearest real node to every upload, by cosine.

# %%
from spear_core.figures import privacy as figures
from spear_core.studies.exposure import exposure

seen = exposure(result)
figures.exposed(result, seen)

# %% [markdown]
# ## Noise
#
# A client releases the sum of its smoothed nodes and their number for every class. If one node
# had other features and another label, the sums would move by at most Δ; Gaussian noise with
# $\sigma = \Delta/\mu(\varepsilon, \delta)$ hides that move. `docs/privacy.md` derives Δ.

# %%
from spear_core.transforms.privacy import noise, sensitivity

moved = sensitivity(result.held, settings).max()
for epsilon in (1.0, 10.0, 100.0):
    width = noise(float(moved), result.graph.num_features, replace(settings, epsilon=epsilon))
    print(f"ε = {epsilon:5}: σ = {width.sums:.2f} on a sum, {width.counts:.2f} on a count")

# %% [markdown]
# A sum of $n$ unit vectors has length at most $n$, and here $n$ is 1 to 20. So the price is high:

# %%
for epsilon in (1.0, 10.0, 100.0, 1000.0, "inf"):
    accuracy = run(replace(settings, epsilon=float(epsilon))).metrics.accuracy
    print(f"ε = {epsilon!s:6}: {100 * accuracy:.1f} %")

# %% [markdown]
# With twenty labelled nodes a class, spread over ten clients, a small ε leaves nothing. Privacy of
# this kind needs clients with many labels.
#
# Next: [the trained methods](10_compare.ipynb).
