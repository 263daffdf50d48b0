"""Proposition 1 in sentences: simulated, averaged over clients, and held against a real run."""

from dataclasses import replace

import numpy as np

from spear_core.measures.prototype_error import EVERY
from spear_core.measures.spread import percent
from spear_core.run import Result
from spear_core.settings import equation
from spear_core.studies.risk import Simulation, inflation
from spear_core.studies.risk_check import Check


def simulated(seen: Simulation) -> str:
    """Two sentences: where the risk is least, and how much that saves."""
    return (
        f"Simulated, the risk is least at λ = {seen.measured_best:.3f}. At λ* it is "
        f"{seen.best_risk:.3g}, {percent(1 - seen.best_risk / seen.local, 0)} less than the "
        f"{seen.local:.3g} of the local prototype alone."
    )


def inflated(result: Result) -> str:
    """What the proposition leaves out, the averaging over clients, with this run's figures."""
    settings = result.settings
    plain = replace(settings, shrinkage=False, count_weights=False)
    now, alike = inflation(result.uploads, settings), inflation(result.uploads, plain)
    return (
        "The proposition is about one client's prototype. SPEAR then averages over the clients, "
        "and by the same model the mean weighted by counts, without shrinkage, has the least "
        f"variance of all weighted means. On {settings.dataset} the global prototypes have "
        f"{float(now.mean()):.3f} times that variance with the present settings (worst class "
        f"{float(now.max()):.3f}); a plain mean of the clients has {float(alike.mean()):.2f} times."
    )


def held(seen: Check) -> dict[str, str]:
    """What the fit says and what it does not, a text each under slope, gamma and peers."""
    return {"slope": _slope(seen), "gamma": _gamma(seen), "peers": _peers(seen)}


def _slope(seen: Check) -> str:
    """Whether the error falls as 1/n."""
    line, different = seen.slope, len(np.unique(seen.n[seen.error > 0]))
    if line is None:
        return (
            f"No slope can be fitted: that takes three different counts n, and there "
            f"{'is' if different == 1 else 'are'} {different or 'none'}."
        )
    found = (
        f"The fitted slope is {line.slope:.2f} over {len(seen.n)} prototypes, 95 % interval "
        f"{line.low:.2f} to {line.high:.2f}"
    ).replace("-", "−")
    if line.low <= 0 <= line.high:
        return f"{found}: too few or too scattered points to tell whether the error falls with n."
    if line.low <= -1 <= line.high:
        return f"{found}. It holds −1: nothing here speaks against an error that falls as 1/n."
    if line.slope > -1:
        return (
            f"{found}: the error falls more slowly than 1/n, as it would if n nodes of one client "
            "told less than n independent ones, or if the centroid were off by something itself."
        )
    own = " The client's own nodes are part of this centroid, which has that effect."
    return f"{found}: the error falls faster than 1/n.{own if seen.reading == EVERY else ''}"


def _gamma(seen: Check) -> str:
    """Which γ the errors ask for, and whether the present one is near."""
    if seen.sigma2 is None:
        return "No prototype differs from its centroid, so there is no variance to fit."
    if seen.gamma_hat is None:
        return "No class has two holders, so there are no peers and τ² cannot be measured."
    spread, guess = seen.gamma_range, f"The errors ask for γ̂ = τ²/σ₀² = {seen.gamma_hat:.2g}"
    if spread is None:
        return f"{guess}; only one class has peers, so how sure that is cannot be said."
    low, high = spread
    inside = f"{guess}, between {low:.2g} and {high:.2g} when one class at a time is left out"
    now = equation("gamma", seen.gamma)
    if low <= seen.gamma <= high:
        return f"{inside}. The present {now} lies within."
    more = "less" if seen.gamma > high else "more"
    return f"{inside}. The present {now} pulls {more} towards the peers than that."


def _peers(seen: Check) -> str:
    """Whether one τ² is enough for all peer means."""
    miss = seen.typical_miss
    if miss is None:
        return (
            "No class has two holders (or no error is left), so there is no peer mean to look at."
        )
    exact = seen.exact[seen.pulled]
    wide = exact.max() / exact.min()
    return (
        f"By the model the variance of a peer mean runs from {exact.min():.2g} to {exact.max():.2g}"
        f", a factor of {wide:.3g}, where the paper takes one τ² = {seen.tau2:.2g} for all. The "
        f"errors seen miss the exact variance by a factor of {miss[0]:.1f} on a typical prototype, "
        f"the constant by {miss[1]:.1f}."
    )
