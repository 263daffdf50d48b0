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
# # 8. The paper's ablation, and what it really shows
#
# The pages of this notebook: [Shrink](http://localhost:8501/shrink), view "What carries the gain",
# and [Paper](http://localhost:8501/paper).
#
# The paper takes parts out of SPEAR and finds that shrinkage is worth 3.6 to 13.6 points. Its row
# "without shrinkage" fits a *plain* mean of clients: it drops the weights by count as well.

# %% [markdown]
# ## Three switches, eight cells
#
# Smoothing, shrinkage, count weights: each on or off, each cell with the five seeds.

# %%
from spear_core import Settings
from spear_core.explain.ablation import words
from spear_core.figures import shrink as figures
from spear_core.studies.ablation import ablation

found = ablation(Settings(dataset="digits"))  # for Cora write dataset="Cora"
figures.ablation_lines(found)

# %% [markdown]
# In words, from the same numbers:

# %%
for sentence in words(found):
    print(sentence)

# %% [markdown]
# ## The same on the paper's datasets
#
# Stored by `python -m spear_core paper`: mean over five seeds, in percent.

# %%
from spear_core.paper import measured

rows = {(r.row, r.column): r for r in measured.read() if r.table == "ablation"}
for name in ("Cora", "CiteSeer", "PubMed", "Computers", "Coauthor-CS"):
    full, none, plain = (
        rows[row, name] for row in ("full", "λ = 0, count weights kept", "without shrinkage")
    )
    print(
        f"{name:12} SPEAR {full.mean:.2f} ± {full.std:.2f}, "
        f"λ = 0 {none.mean:.2f} ± {none.std:.2f}, "
        f"plain mean {plain.mean:.2f} ± {plain.std:.2f} (printed {plain.printed:.2f})"
    )

# %%
from spear_core.figures import paper

paper.ablation(measured.read())

# %% [markdown]
# With count weights kept, taking shrinkage out moves accuracy by less than the spread over seeds.
# The gain that the paper books under shrinkage is the gain of counting.
#
# Next: [privacy](09_privacy.ipynb).
