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
# # 9. Sensitivity
#
# The page of this notebook: [Sensitivity](http://localhost:8501/sensitivity).
#
# Which knob matters? `sweep` runs every combination of the lists it is given and returns one row a
# run. What was measured once is kept on disk.
#
# Why that is quick: smoothing is a sum of powers,
#
# $$Z = \sum_{t=0}^{T} w_t\,\hat A^t \tilde X, \qquad w_t = (1-\alpha)\,\alpha^t,\quad
#   w_T = \alpha^T ,$$
#
# and only the weights know $\alpha$ and $T$. The powers are made once
# ([the fast algebra](15_fast_algebra.ipynb)).

# %%
from IPython.display import Math

from spear_core import PAPER_SEEDS, Settings
from spear_core.figures import sweep as figures
from spear_core.propagate import mixing
from spear_core.sweeps import sweep

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
w = mixing(settings.alpha, settings.steps)
parts = " + ".join(f"{v:.4f}" for v in w)
Math(rf"\alpha = {settings.alpha:g},\ T = {settings.steps}:\quad \sum_t w_t = {parts} = {sum(w):g}")

# %% [markdown]
# ## One knob
#
# Mean over five seeds, the band is one standard deviation, the diamond is where we are.

# %%
alphas = [0, 0.1, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9]
table = sweep(settings, alpha=alphas, seed=PAPER_SEEDS)
print(f"{len(table)} runs")
print((100 * table.groupby("alpha")["accuracy"].mean()).round(2).to_dict())
figures.curve(table, "alpha", here=settings)

# %% [markdown]
# ## Two knobs at once
#
# The heat map of $\alpha$ and $\beta$: where does smoothing pay most?

# %%
table = sweep(settings, alpha=alphas, beta=[0.01, 0.05, 0.2, 1, 10], seed=PAPER_SEEDS)
figures.heat(table, "alpha", "beta", here=settings)

# %% [markdown]
# ## When does shrinkage matter?
#
# $\gamma$ decides little as long as it is not very small, whatever the skew.

# %%
table = sweep(settings, gamma=[0, 0.01, 0.1, 0.5, 2, "inf"], beta=[0.05, 1], seed=PAPER_SEEDS)
figures.heat(table, "gamma", "beta", here=settings)

# %% [markdown]
# ## Neighbours that are alike
#
# The best $\alpha$ follows the homophily of the graph. Synthetic graphs, alike but for their edges:

# %%
made = Settings(dataset="synthetic", nodes=1000, strength=0.3)
table = sweep(made, homophily=[0.2, 0.4, 0.6, 0.8], alpha=alphas, seed=PAPER_SEEDS)
figures.curve(table, "alpha", by="homophily")

# %% [markdown]
# ## On Cora
#
# From the command line:
# `python -m spear_core sweep --dataset Cora --alpha 0,0.15,0.8 --seeds paper --out cora.csv`

# %% tags=["cora"]
cora = Settings(dataset="Cora")
table = sweep(cora, alpha=alphas, beta=[0.01, 0.05, 0.2, 1, 10], seed=PAPER_SEEDS)
figures.heat(table, "alpha", "beta", here=cora)

# %% [markdown]
# ## Exercise
#
# Is it $T$ or $\alpha$ that counts? Sweep both and find the best pair.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
table = sweep(settings, alpha=alphas, steps=[1, 2, 5, 10], seed=PAPER_SEEDS)
mean = 100 * table.groupby(["alpha", "steps"])["accuracy"].mean()
alpha, steps = mean.idxmax()
print(f"best: α = {alpha}, T = {steps}, {mean.max():.2f} %")
print(mean.unstack().round(1).to_string())

# %% [markdown]
# ## Explore it

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [the paper beside ours](10_paper.ipynb).
