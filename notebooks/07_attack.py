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
# # 7. Robustness: clients that lie
#
# The page of this notebook: [Attack](http://localhost:8501/attack).
#
# A liar can call its classes by wrong names, $y \to y + 1$, and claim more nodes than it has,
# $n \to r\,n$. The server sees only means and counts. What do lies break, and what gets it back?

# %%
import statistics
from dataclasses import replace

from IPython.display import Math

from spear_core import PAPER_SEEDS, Settings, run

settings = Settings(dataset="digits", attacker_count=3, flip="next")  # for Cora dataset="Cora"
attacked, clean = run(settings), run(replace(settings, attacker_count=0))
print(f"liars: clients {attacked.attackers}")
print(f"{100 * clean.metrics.accuracy:.1f} % when nobody lies, ", end="")
print(f"{100 * attacked.metrics.accuracy:.1f} % with three liars")

# %% [markdown]
# ## Where the lies lie
#
# Rings mark what the liars sent; a thin line leads from where a prototype lies when nobody lies.
# Each lie sits in the cloud of one class and wears the colour of the next.

# %%
from spear_core import embed
from spear_core.figures import attack as figures
from spear_core.figures.map import map_figure

plane = embed.fit(attacked.graph, settings.alpha, settings.steps)
figures.with_liars(map_figure(plane, attacked, before=clean), plane, attacked)

# %% [markdown]
# ## Who is hurt
#
# Accuracy class by class: the classes that liars name, and those they took the nodes from.

# %%
figures.class_bars({"clean": clean, "attacked": attacked})

# %% [markdown]
# On `digits` a wrong prototype is a picture: above what a liar holds, below what it sends.

# %%
pictured = Settings(dataset="digits", attackers="chosen", chosen="1,8", flip="next")
figures.sent_pictures(run(pictured))

# %% [markdown]
# ## A lie weighs as much as its count
#
# The server's prototype is a mean by counts. Three liars of ten clients need not hold three tenths:

# %%
from spear_core.studies.damage import held_by

share = held_by(attacked.attackers, settings)
truth = int(attacked.partition.train_counts.sum())
Math(
    rf"\frac{{\sum_{{k \in \text{{liars}}}} n_k}}{{\sum_k n_k}} = "
    rf"\frac{{{round(share * truth / 100)}}}{{{truth}}} = {share:.0f}\,\%"
)

# %% [markdown]
# 60 random draws of one to five liars, by the share of the training nodes they hold:

# %%
from spear_core.studies.damage import Draw, compare, damage

draws = damage(replace(settings, attackers="random", attacker_count=0))
here = Draw(attacked.attackers, share, 100 * attacked.metrics.accuracy)
figures.damage_dots(draws, 100 * clean.metrics.accuracy, here)

# %% [markdown]
# A liar can also invent its count. The server believes counts, so a factor of 100 is as good as
# owning the class:


# %%
def over_seeds(s):
    values = [100 * run(replace(s, seed=seed)).metrics.accuracy for seed in PAPER_SEEDS]
    return f"{statistics.mean(values):.1f} ± {statistics.pstdev(values):.1f} %"


inflated = replace(settings, inflate=100.0)
print("counts as they are:  ", over_seeds(settings))
print("counts times 100:    ", over_seeds(inflated))
print("with a cap on counts:", over_seeds(replace(inflated, defence="cap")))

# %% [markdown]
# ## Defences
#
# The yardstick is an oracle that knows the liars and drops them. Each row is a defence against
# these liars, five seeds; the hollow mark is what it costs when nobody lies. With about two holders
# a class under strong skew, a median has little to go by, so here clients are more alike
# ($\beta = 1$).

# %%
from spear_core.explain.damage import words

rows = compare(replace(settings, beta=1.0))
print(words(rows))
figures.defence_dots(rows)

# %% [markdown]
# ## What cannot be true
#
# Before any defence the server checks what it is sent: NaN, a norm above 1, a negative count.

# %%
for rejected in run(replace(settings, forge="nan")).rejected[:3]:
    print(rejected.sentence)

# %% [markdown]
# ## On Cora

# %% tags=["cora"]
cora = Settings(dataset="Cora", attacker_count=3, flip="next", beta=1.0)
found = compare(cora)
print(words(found))
figures.defence_dots(found)

# %% [markdown]
# ## Exercise
#
# Who the liars are decides. Let the three smallest, three random, and the three largest clients lie
# (`attackers=`), and explain the order.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
# the count is the weight: who holds more nodes has more of the mean
for who in ("smallest", "random", "largest"):
    print(f"the three {who}: {over_seeds(replace(settings, attackers=who))}")

# %% [markdown]
# ## Explore it
#
# Turn *attackers* and *defence*.

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [privacy](08_privacy.ipynb).
