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
# # 5. Shrinkage
#
# The page of this notebook: [Shrink](http://localhost:8501/shrink).
#
# A client with three nodes of a class sends a poor mean. Its peers hold the same class. How much
# should it listen to them?
#
# ## The question as a formula
#
# Client $k$ sees $p = \mu + e$ with $e \sim (0, \sigma_0^2/n)$. The peers' mean is
# $\bar p = \mu + b$ with $b \sim (0, \tau^2)$, independent of $e$. The mixture
# $\tilde p = (1-\lambda)\,p + \lambda\,\bar p$ has the error
# $(1-\lambda)\,e + \lambda\,b$, so per feature
#
# $$R(\lambda) = (1-\lambda)^2\,\frac{\sigma_0^2}{n} + \lambda^2\,\tau^2 .$$
#
# **The best weight.** $R$ is a parabola that opens upwards. Its derivative
# $-2(1-\lambda)\,\sigma_0^2/n + 2\lambda\,\tau^2$ is zero at
#
# $$\lambda^* = \frac{\sigma_0^2/n}{\sigma_0^2/n + \tau^2} = \frac{1}{1 + \gamma n},
#   \qquad \gamma = \frac{\tau^2}{\sigma_0^2},$$
#
# and there $R(\lambda^*) = \lambda^*\tau^2$, less than either error alone.

# %%
from dataclasses import replace

from IPython.display import Math

from spear_core import Settings, grid, run
from spear_core.studies import risk

settings = Settings(dataset="digits", beta=0.5)  # for Cora write dataset="Cora"
result = run(settings)
n, sigma2, tau2 = 3, 1.0, 0.5
best = risk.best_weight(sigma2, tau2, n)
mixed = float(risk.risk(best, sigma2, tau2, n))
Math(
    rf"\lambda^* = \frac{{1}}{{1 + {tau2 / sigma2:g} \cdot {n}}} = {best:.2f}:\quad "
    rf"R(0) = {sigma2 / n:.3f},\quad R(1) = {tau2:.3f},\quad R(\lambda^*) = {mixed:.3f}"
)

# %% [markdown]
# ## Does it come out in a simulation?
#
# Draw means and peer means from the model, measure the squared error at every $\lambda$: the dots
# are measured, the line is the formula.

# %%
from spear_core.figures import shrink as figures
from spear_core.figures import theory

theory.risk_curve(risk.simulate(sigma2, tau2, n))

# %% [markdown]
# ## On a real graph
#
# Nobody knows $\sigma_0^2$ and $\tau^2$; SPEAR takes $\gamma = 0.5$. Every dot is an uploaded
# prototype.

# %%
figures.weight_curve(result)

# %% [markdown]
# Client by client. A dark cell leans on the others.

# %%
from spear_core import figures as common

common.weights(result)

# %% [markdown]
# ## How the map moves
#
# Diamonds are what the clients send, the same in both. The stars are what the server makes of them:
# left without shrinkage ($\gamma = \infty$), right with all of it ($\gamma = 0$), where the mean of
# every client is replaced by that of its peers.

# %%
from spear_core.widgets import live_map

none, full = run(replace(settings, gamma=float("inf"))), run(replace(settings, gamma=0.0))
live_map(none, full)

# %% [markdown]
# The stars alone, with a thin line from where each was without shrinkage. A class that has many
# holders hardly moves:

# %%
from spear_core import embed
from spear_core.figures.map import map_figure

plane = embed.fit(result.graph, settings.alpha, settings.steps)
map_figure(plane, full, show="global", before=none)

# %% [markdown]
# ## Is it nearer to the truth?
#
# Cosine distance to the true centroid, class by class: the local prototypes, after shrinkage, and
# the global one. Each step should move to the left.

# %%
from spear_core.measures.prototype_error import class_errors

errors = class_errors(result.estimate, result.metrics.centroids)
figures.error_steps(errors, result.graph.names)

# %% [markdown]
# ## Averaging already does most of it
#
# The global prototype is a mean weighted by counts, and a mean over clients removes the same noise
# that shrinkage removes. So accuracy hardly asks for $\gamma$:

# %%
gammas = (0.0, 0.01, 0.1, 0.5, 2.0, float("inf"))
accuracy = 100 * grid(settings, [settings.alpha], gammas, [settings.steps]).accuracy[0, :, 0]
figures.accuracy_over_gamma(gammas, accuracy.numpy(), (0.5, 100 * result.metrics.accuracy))

# %% [markdown]
# What carries the gain instead is counted in [the paper beside ours](10_paper.ipynb).
#
# ## On Cora
#
# A stronger skew, $\beta = 0.05$: few clients hold a class, so the peers are one or two others.
# Then too much shrinkage harms ($\gamma$ near 0); from $\gamma = 0.5$ on the curve is flat again.
# On the map some stars of $\gamma = 0$ (right) stand far from their crosses:

# %% tags=["cora"]
sparse = Settings(dataset="Cora")
live_map(*(run(replace(sparse, gamma=gamma)) for gamma in (float("inf"), 0.0)))

# %% tags=["cora"]
values = 100 * grid(sparse, [0.15], gammas, [2]).accuracy[0, :, 0]
for gamma, value in zip(gammas, values.tolist(), strict=True):
    print(f"γ = {gamma!s:4}: {value:.1f} %")
figures.accuracy_over_gamma(gammas, values.numpy(), (0.5, float(values[3])))

# %% [markdown]
# ## Exercise
#
# With $\sigma_0^2 = 1$ and $\tau^2 = 0.5$, for how many nodes $n$ does the best mixture take
# exactly one fifth from the peers? Check it by the formula.

# %% jupyter={"source_hidden": true, "outputs_hidden": true} tags=["solution"]
# A solution
# 1 / (1 + γ n) = 1 / 5 means γ n = 4, and γ = τ² / σ² = 0.5, so n = 8
print(risk.best_weight(1.0, 0.5, 8))

# %% [markdown]
# ## Explore it
#
# Pull γ from end to end: how far do the stars move, and how much does the number?

# %%
from spear_core.widgets import explore

e = explore(settings)
e

# %% [markdown]
# Next: [noise](06_noise.ipynb).
