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
# # 10. The trained methods
#
# The page of this notebook: [Compare](http://localhost:8501/compare).
#
# The paper sets SPEAR against methods that train: clients fit a graph network, the server averages
# its weights, many times over. Here is FedAvg on the very same split, live, then the stored runs.

# %%
from spear_core import Settings, run
from spear_core.baselines import defaults, stored
from spear_core.baselines.loop import train

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
spear = run(settings)
fedavg = train(settings, defaults("fedavg", rounds=10), keep=False)
print(f"SPEAR, one round:   {100 * spear.metrics.accuracy:.1f} %")
print("FedAvg after each:  ", [round(100 * p.accuracy) for p in fedavg.curve])

# %% [markdown]
# ## What is sent
#
# Counted from what is really passed: SPEAR sends prototypes once, FedAvg the whole model both ways
# in every round.

# %%
from spear_core.figures import human_bytes

print("SPEAR up:             ", human_bytes(spear.metrics.bytes_up_total))
print("FedAvg up, ten rounds:", human_bytes(sum(fedavg.traffic.up)))

# %% [markdown]
# ## One setting decides whether FedAvg collapses
#
# Under label skew a weight decay in the clients' Adam probably wears out what others learnt. The
# public setups have it, and then FedAvg ends near the share of one class.

# %%
from spear_core.baselines.training import literature

decayed = train(settings, literature("fedavg", rounds=10), keep=False)
print(f"without weight decay {100 * fedavg.accuracy:.1f} %, with it {100 * decayed.accuracy:.1f} %")

# %% [markdown]
# ## Stored runs
#
# Made by `python -m spear_core baseline`, each with its rounds and seeds.

# %%
from spear_core.baselines.results import SHIPPED
from spear_core.baselines.views import summaries

for s in summaries(stored(SHIPPED)):
    if s.dataset == "Cora" and s.beta == 0.05 and s.recipe == "default":
        print(f"{s.method:9} {100 * s.accuracy:5.1f} ± {100 * s.spread:.1f} %, ", end="")
        print(f"{s.rounds} rounds, {len(s.seeds)} seeds")

# %% [markdown]
# Next: [from a notebook to a federation](11_deploy.ipynb).
