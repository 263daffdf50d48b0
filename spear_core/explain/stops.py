"""Where the five knobs stop and what their two ends mean, wherever somebody can move them."""

import math

BETAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
GAMMAS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 2.0, 5.0, 10.0, 100.0, math.inf)
CLIENTS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200, 500, 1000)
MOST_STEPS = 20  # of a slider
MOST_ALPHA = 0.95  # of a slider; a field takes more

ENDS = {
    "beta": ("each client one class", "all alike"),
    "clients": ("no federation", "many tiny ones"),
    "alpha": ("ignores the graph", "neighbours decide"),
    "steps": ("looks nowhere", "looks far"),
    "gamma": ("peers alone", "no shrinkage"),
}
