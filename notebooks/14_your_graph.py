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
# # 14. Your own graph
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
# A training node whose label nobody else may read is as good as a test node. So the training nodes
# are left out in turn, in parts, and the others predict them:
#
# $$\hat a = \frac{1}{|V_{train}|} \sum_{i \in V_{train}} [\hat y_{-i} = y_i]$$
#
# No label of a test node is read: the verdict is the same if they are permuted. With few training
# nodes it is uncertain, and says by how much.

# %%
from IPython.display import Math

found = verdict(settings)
n, value, error = found.left_out, found.expected.value, found.expected.error
Math(
    rf"\hat a = \frac{{{round(value * n)}}}{{{n}}} = {100 * value:.1f}\,\%,"
    rf"\qquad \text{{standard error }} {100 * error:.1f} \text{{ points}}"
)

# %%
print(*found.lines, sep="\n")

# %% [markdown]
# ## See it
#
# Two owners, two factions. The graph is an ordinary dataset now, so every picture works on it.

# %%
from spear_core import figures

figures.weights(result)

# %% [markdown]
# ## On Cora
#
# The verdict asks the same of any dataset. Here it may be held against the test labels, which it
# did not read:

# %% tags=["cora"]
cora = Settings(dataset="Cora")
asked = verdict(cora)
print(*asked.lines[:3], sep="\n")
right = run(asked.recommended).metrics.accuracy
print(f"expected {100 * asked.expected.value:.1f} %, on the test nodes {100 * right:.1f} %")

# %% [markdown]
# ## Exercise
#
# One member of the club in five has no label. Write the node table again with those labels empty:
# is it refused, or what is said?

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
with (folder / "some.csv").open("w", newline="") as file:
    some = [(i, label if i % 5 else "", owner) for i, label, owner in table]
    csv.writer(file).writerows([("id", "label", "owner"), *some])
fewer = read_graph(
    Sources(edges=given_path(folder / "edges.csv"), nodes=given_path(folder / "some.csv")),
    Choices(drawn="8"),
)
print(*described(fewer), sep="\n")

# %% [markdown]
# On the command line:
#
#     python -m spear_core data add mine --edges edges.csv --nodes nodes.csv
#     python -m spear_core check mine
#     python -m spear_core data remove mine
#
# ## Explore it

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [the fast algebra](15_fast_algebra.ipynb), why all of it answers at once.
