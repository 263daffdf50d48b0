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
# # 4. Shrinkage
#
# The page of this notebook: [Shrink](http://localhost:8501/shrink).
#
# A client with three nodes of a class sends a poor mean. Its peers hold the same class. How much
# should it listen to them?

# %% [markdown]
# ## The question as a formula
#
# Client $k$ sees $p = \mu + e$ with $e \sim (0, \sigma_0^2/n)$. The peers' mean is
# $\bar p = \mu + b$ with $b \sim (0, \tau^2)$, independent of $e$. The mixture
# $\tilde p = (1-\lambda)\,p + \lambda\,\bar p$ has the error
# $(1-\lambda)\,e + \lambda\,b$, so per feature
#
# $$R(\lambda) = (1-\lambda)^2\,\frac{\sigma_0^2}{n} + \lambda^2\,\tau^2 .$$
#
# **Proof of the best weight.** $R$ is a parabola with $R''=2(\sigma_0^2/n+\tau^2)>0$. Its
# derivative $-2(1-\lambda)\,\sigma_0^2/n + 2\lambda\,\tau^2$ is zero at
#
# $$\lambda^* = \frac{\sigma_0^2/n}{\sigma_0^2/n + \tau^2} = \frac{1}{1 + \gamma n},
#   \qquad \gamma = \frac{\tau^2}{\sigma_0^2},$$
#
# and there $R(\lambda^*) = \lambda^*\tau^2 < \min(\sigma_0^2/n,\ \tau^2)$, better than either
# alone. $\square$

# %%
from spear_core.studies import risk

n, sigma2, tau2 = 3, 1.0, 0.5
best = risk.best_weight(sigma2, tau2, n)
print(f"λ* = 1/(1 + {tau2 / sigma2:g}·{n}) = {best:.2f}")
mixed = float(risk.risk(best, sigma2, tau2, n))
print(f"risk alone {sigma2 / n:.4f}, peers {tau2:.4f}, mixed {mixed:.4f}")

# %% [markdown]
# ## Does it come out in a simulation?
#
# Draw prototypes and peer means from the model, measure the squared error at every λ.

# %%
from spear_core.figures import shrink as figures
from spear_core.figures import theory

seen = risk.simulate(sigma2, tau2, n)
theory.risk_curve(seen)

# %% [markdown]
# ## On a real graph
#
# Nobody knows $\sigma_0^2$ and $\tau^2$; SPEAR takes $\gamma = 0.5$. Every dot is an uploaded
# prototype.

# %%
from spear_core import Settings, run

result = run(Settings(dataset="digits", beta=0.5))  # for Cora write dataset="Cora"
figures.weight_curve(result)

# %% [markdown]
# Distance to the true centroid, class by class: the local prototypes, after shrinkage, and the
# global one.

# %%
from spear_core.measures.prototype_error import class_errors

errors = class_errors(result.estimate, result.metrics.centroids)
figures.error_steps(errors, [str(c) for c in range(10)])

# %% [markdown]
# ## Averaging already does most of it
#
# The global prototype is a mean weighted by counts, and a mean over clients removes the same noise
# that shrinkage removes. So accuracy hardly asks for $\gamma$:

# %%
from spear_core import grid

gammas = (0.0, 0.01, 0.1, 0.5, 2.0, "inf")
accuracy = grid(result.settings, [0.15], gammas, [2]).accuracy[0, :, 0].tolist()
for gamma, value in zip(gammas, accuracy, strict=True):
    print(f"γ = {gamma!s:4}: {100 * value:.1f} %")

# %% [markdown]
# What carries the gain instead is counted in [the ablation](08_ablation.ipynb).
#
# Next: [the fast algebra](05_fast_algebra.ipynb).
