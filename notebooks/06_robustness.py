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
# # 6. Robustness
#
# The pages of this notebook: [Noise](http://localhost:8501/noise) and
# [Attack](http://localhost:8501/attack).
#
# What happens when data is noisy, and when clients lie? Both are settings of a run.

# %%
import statistics
from dataclasses import replace

from spear_core import PAPER_SEEDS, Settings, run

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"


def over_seeds(s):
    values = [100 * run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    return f"{statistics.mean(values):.1f} ± {statistics.pstdev(values):.1f} %"


print("clean", over_seeds(settings))

# %% [markdown]
# ## Noise
#
# Half of $\rho E$ edges are deleted inside the clients and as many random ones added; each feature
# is set to zero with probability $\eta$. The test graph stays clean. A mean of many nodes forgets
# noise, so little is lost.

# %%
for rate in (0.25, 0.5, 0.9):
    edges = over_seeds(replace(settings, edge_noise=rate))
    masked = over_seeds(replace(settings, feature_noise=rate))
    print(f"rate {rate}: edges {edges}, features {masked}")

# %% [markdown]
# ## Lies
#
# Three of ten clients call every class the next one. Who they are decides: a lie weighs as much as
# its count.

# %%
for who in ("smallest", "random", "largest"):
    lied = replace(settings, attackers=who, attacker_count=3, flip="next")
    print(f"three {who} clients flip their labels: {over_seeds(lied)}")

# %% [markdown]
# A liar can also invent its count. The server believes counts, so a factor of 100 is as good as
# owning the class:

# %%
inflated = replace(settings, attacker_count=3, flip="next", inflate=100.0)
print("counts times 100:", over_seeds(inflated))
print("with a cap on counts:", over_seeds(replace(inflated, defence="cap")))

# %% [markdown]
# ## What it looks like
#
# On `digits` a wrong prototype is a picture. Here is class 2 as the server gets it when clients 1
# and 8 call every class the next one: their ones arrive as twos.

# %%
from spear_core import figures

pictured = Settings(dataset="digits", attackers="chosen", chosen="1,8", flip="next")
lying = run(pictured)
figures.pictures(lying, label=2)

# %% [markdown]
# ## Defences
#
# The yardstick is an oracle that knows the liars and drops them. With about two holders a class,
# a median has nothing to go by.

# %%
lied = replace(settings, attacker_count=3, flip="next", beta=1.0)
for defence in ("none", "median", "trimmed", "geometric", "krum", "oracle"):
    print(f"{defence:10} {over_seeds(replace(lied, defence=defence))}")

# %% [markdown]
# ## What cannot be true
#
# Before any defence the server checks what it is sent: NaN, a norm above 1, a negative count.

# %%
forged = run(replace(settings, attackers="chosen", chosen="0,1", forge="nan"))
for rejected in forged.rejected:
    print(rejected.sentence)

# %% [markdown]
# Next: [sensitivity](07_sensitivity.ipynb).
