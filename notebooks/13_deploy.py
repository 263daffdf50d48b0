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
# # 13. From a notebook to a federation
#
# The page of this notebook: [Deploy](http://localhost:8501/deploy).
#
# A run of the explorer and a run between machines call the same functions. Here are the steps of
# both, side by side, without any network: `docs/federation.md` has the rest. Client $k$ sends
#
# $$4\,|C_k|\,(F + 2) \text{ bytes:}$$
#
# for each of its classes $C_k$ a mean of $F$ numbers, its label and its count, four bytes each.

# %%
import tempfile
from pathlib import Path

import torch
from IPython.display import Math

from spear_core import Settings, run
from spear_core.client import upload
from spear_core.defences.check import check_one, join
from spear_core.federation.files import client_graph, read_client, write_client
from spear_core.partition import Partition
from spear_core.server import estimate

settings = Settings(dataset="digits")  # for Cora write dataset="Cora"
result = run(settings)
known, wide = int((result.uploads.client == 0).sum()), result.graph.num_features
Math(
    rf"\text{{client }}0:\quad 4 \cdot {known} \cdot ({wide} + 2) = "
    rf"{4 * known * (wide + 2)}\text{{ bytes}}"
)

# %% [markdown]
# Who sends what: one row a client, dark cells are means of few nodes.

# %%
from spear_core import figures

figures.weights(result)

# %%
figures.traffic(result)

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
    classes = result.graph.classes
    kept, rejected = check_one(
        k, sent.label, sent.counts, sent.prototypes, settings.clients, classes, wide
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
# ## The commands
#
# `make federation-demo` starts a SuperLink and ten SuperNodes with TLS and node keys on this
# machine, runs the same steps through Flower, and compares. Between real machines:

# %%
from spear_core.federation import lines
from spear_core.federation.names import shaped

print(lines.export_line(settings))
print(lines.federate_line(shaped(settings, result.graph)))

# %% [markdown]
# ## On Cora

# %% tags=["cora"]
cora = run(Settings(dataset="Cora"))
print(lines.demo_line(cora.settings))
print(f"{figures.human_bytes(cora.metrics.bytes_up_per_client)} from a client on average")
figures.traffic(cora)

# %% [markdown]
# ## Exercise
#
# The server checks what arrives. Send it a mean that is twice as long as any mean can be: what does
# `check_one` say?

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
kept, rejected = check_one(
    9, sent.label, sent.counts, 2 * sent.prototypes / sent.prototypes.norm(dim=1, keepdim=True),
    settings.clients, classes, wide,
)  # fmt: skip
print(*(one.sentence for one in rejected), sep="\n")

# %% [markdown]
# ## Explore it

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [your own graph](14_your_graph.ipynb).
