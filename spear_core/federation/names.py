"""Which settings a federated run is told; needs no Flower."""

RUN_SETTINGS = (  # everything else in Settings says how a demo is split
    *("alpha", "steps", "gamma", "shrinkage", "count_weights", "peers"),
    *("defence", "cap_share", "trim", "expected_attackers", "epsilon", "delta", "mechanism"),
)
CLIENT_SETTINGS = ("alpha", "steps", "epsilon", "delta", "mechanism")  # of these, the clients
