"""What LANCE adds to the settings, each with SPEAR as its default."""

from spear_core.fields import as_clients, setting

# fmt: off
smoothing = setting(
    "fixed", "fixed (α, T), gated (stronger where neighbours are alike in their features)",
    label="how hard to smooth", choices=("fixed", "gated"))
gate = setting(
    0.07, "above which gated smoothing is the stronger one",
    label="affinity of the gate", low=-1.0, high=1.0)
gate_alpha = setting(
    0.8, "above the gate", label="weight of the neighbours when gated", low=0.0, below=1.0)
gate_steps = setting(
    5, "above the gate", label="smoothing steps when gated", low=0, high=1000, link_high=100)
test_alpha = setting(
    -1.0, "at inference; -1 as the clients smooth", label="weight of the neighbours when tested",
    form=as_clients, low=0.0, below=1.0, unset=-1.0)
test_steps = setting(
    -1, "at inference; -1 as the clients smooth", label="smoothing steps when tested",
    form=as_clients, low=0, high=1000, link_high=100, unset=-1)
head = setting(
    "cosine", "cosine (with the global prototypes), ridge (one regression over all clients)",
    label="how a node is scored", choices=("cosine", "ridge"))
sketch = setting(
    0.0, "rows of residuals a client adds to its message (head = ridge), inf all of them",
    label="rank of the sketch", low=0.0, high=64.0, infinite=True, whole=True)
ridge = setting(
    0.5, "times the mean variance of a row (head = ridge)", "κ",
    label="strength of the ridge", above=0.0, high=1e6)
sketch_cap = setting(
    True, "no client sends more than half of what would give its rows away",
    label="sketch at most half of exact")
