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
# # 11. From a notebook to a federation
#
# The page of this notebook: [Deploy](http://localhost:8501/deploy).
#
# A run of the explorer and a run between machines call the same functions. Here are the steps of
# both, side by side, without any network: `docs/federation.md` has the rest.

# %%
import tempfile
from pathlib import Path

import torch

from spear_core import Settings, run
from spear_core.client import upload
from spear_core.defences.check import check_one, join
from spear_core.federation.files import client_graph, read_client, write_client
from spear_core.partition import Partition
from spear_core.server import estimate

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)

# %% [markdown]
# ## Each client has a file
#
# Its own nodes, the edges among them, and nothing else.

# %%
folder = Path(tempfile.mkdtemp())
for k in range(settings.clients):
    write_client(folder / f"client-{k}.npz", client_graph(result.partition, k))
print(f"client 0 holds {read_client(folder / 'client-0.npz').num_nodes} nodes")

# %% [markdown]
# ## Each client answers once
#
# It reads its file, smooths, and sends one row a class. The server checks every row as it comes.

# %%
arrived = []
for k in range(settings.clients):
    graph = read_client(folder / f"client-{k}.npz")
    alone = Partition(graph, torch.zeros(graph.num_nodes, dtype=torch.int64), clients=1)
    sent = upload(alone, settings)
    kept, rejected = check_one(
        k, sent.label, sent.counts, sent.prototypes, settings.clients, 10, graph.num_features
    )
    arrived.append(kept)
    print(f"client {k}: classes {sent.label.tolist()}, counts {sent.counts.tolist()}")

# %% [markdown]
# ## The server makes the estimate

# %%
made = estimate(join(arrived), settings)
far = (made.prototypes - result.estimate.prototypes).abs().max()
print("as in the explorer:", bool(far < 1e-6))

# %% [markdown]
# ## Between machines
#
#     make federation-demo
#
# starts a SuperLink and ten SuperNodes with TLS and node keys on this machine, runs the same
# steps through Flower, and compares.
#
# Next: [beyond SPEAR](12_beyond.ipynb).
