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
# # 7. Sensitivity
#
# The page of this notebook: [Sensitivity](http://localhost:8501/sensitivity).
#
# `sweep` runs every combination of the lists it is given and returns one row a run. α, γ and T are
# recombined from one basis ([the fast algebra](05_fast_algebra.ipynb)), so a whole study costs
# little, and what was measured once is kept on disk.

# %%
from spear_core import PAPER_SEEDS, Settings
from spear_core.figures import sweep as figures
from spear_core.sweeps import sweep

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
alphas = [0, 0.1, 0.15, 0.3, 0.5, 0.7, 0.8, 0.9]
table = sweep(settings, alpha=alphas, seed=PAPER_SEEDS)
print(f"{len(table)} runs")
print((100 * table.groupby("alpha")["accuracy"].mean()).round(2).to_dict())

# %%
figures.curve(table, "alpha", here=settings)

# %% [markdown]
# ## Two knobs at once

# %%
table = sweep(settings, alpha=alphas, beta=[0.01, 0.05, 0.2, 1, 10], seed=PAPER_SEEDS)
figures.heat(table, "alpha", "beta", here=settings)

# %% [markdown]
# ## When does shrinkage matter?
#
# γ decides nothing here as long as it is not very small, whatever the skew.

# %%
table = sweep(settings, gamma=[0, 0.01, 0.1, 0.5, 2, "inf"], beta=[0.05, 1], seed=PAPER_SEEDS)
wide = 100 * table.pivot_table(index="gamma", columns="beta", values="accuracy")
print(wide.round(2).to_string())

# %% [markdown]
# ## Neighbours that are alike
#
# The best α follows the homophily of the graph. Two synthetic graphs, alike but for their edges:

# %%
made = Settings(dataset="synthetic", nodes=1000, strength=0.3)
table = sweep(made, homophily=[0.2, 0.4, 0.6, 0.8], alpha=alphas, seed=PAPER_SEEDS)
figures.curve(table, "alpha", by="homophily")

# %% [markdown]
# From the command line, with Cora:
#
#     python -m spear_core sweep --dataset Cora --alpha 0,0.15,0.8 --seeds paper --out cora.csv
#
# Next: [the paper's ablation](08_ablation.ipynb).
