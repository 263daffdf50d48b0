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
# # 13. Your own graph
#
# The page of this notebook: [Your graph](http://localhost:8501/your_graph).
#
# Two tables become a dataset with a name. Here they are written first, from a graph that is built
# in; put the paths of your own in their place.

# %%
import csv
import os
import tempfile
from pathlib import Path

os.environ["SPEAR_CACHE"] = tempfile.mkdtemp()  # leave this line out, and the dataset stays

from spear_core import Settings, load, run
from spear_core.own import Choices, Sources, described, given_path, keep, read_graph
from spear_core.verdict import verdict

folder = Path(tempfile.mkdtemp())
club = load(Settings(dataset="karate"))
with (folder / "edges.csv").open("w", newline="") as file:
    csv.writer(file).writerows([("source", "target"), *club.edge_index.t().tolist()])
with (folder / "nodes.csv").open("w", newline="") as file:
    table = [(i, club.names[c], "Ulm" if i % 3 else "Bonn") for i, c in enumerate(club.y.tolist())]
    csv.writer(file).writerows([("id", "label", "owner"), *table])

# %% [markdown]
# ## Read, look, keep
#
# Nothing is kept before you say so. What is wrong is said by row and column; what was put right,
# and what was made because it was not given, is listed.

# %%
files = Sources(
    edges=given_path(folder / "edges.csv"),
    nodes=given_path(folder / "nodes.csv"),
)
draft = read_graph(files, Choices(drawn="8"))
print(*described(draft), sep="\n")

# %%
keep(draft, "club")
settings = Settings(dataset="club", partition="owner", clients=2)
result = run(settings)
print(*result.notes, sep="\n")

# %% [markdown]
# ## What to expect
#
# $$\hat a = \frac{1}{|V_{train}|} \sum_{i \in V_{train}} [\hat y_{-i} = y_i]$$
#
# Training nodes are left out in turn and predicted by the others. No label of a test node is read:
# the verdict is the same if they are permuted.

# %%
found = verdict(settings)
print(*found.lines, sep="\n")

# %% [markdown]
# **To try:** add a column of text to the node table and name it `text`; then every prototype has
# words.
#
# On the command line:
#
#     python -m spear_core data add mine --edges edges.csv --nodes nodes.csv
#     python -m spear_core check mine
#     python -m spear_core data remove mine
