"""Local training, shared by every method: full-batch Adam on the training nodes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from spear_core.baselines.local import Local
from spear_core.baselines.model import GCN, State
from spear_core.wanted import still_wanted

if TYPE_CHECKING:
    from spear_core.baselines.training import Training

Term = Callable[[GCN, Tensor], Tensor]  # what a method adds to the loss, from the hidden rows


def fit(
    net: GCN,
    client: Local,
    state: State,
    training: "Training",
    rng: np.random.Generator,
    term: Term | None = None,
    narrow: bool = True,
) -> State:
    """The parameters after E steps from `state`, with a new optimiser; the network has them then.

    A feature that no row has moves no weight, unless weights decay, so its weights are left out;
    with `narrow` a term has to do without them too.
    """
    if narrow and narrows(training):
        small = client.narrow(state)
        features, hidden = small["first.weight"].shape
        part = type(net)(features, hidden, len(state["second.bias"]), net.dropout)
        part.to(state["second.bias"].device)
        done = client.widened(_fit(part, client, small, training, rng, term), state)
        net.load(done)
        return done
    return _fit(net, client, state, training, rng, term)


def narrows(training: "Training") -> bool:
    """Whether weights of features that a client does not have stay as they are."""
    return training.weight_decay == 0


def _fit(
    net: GCN,
    client: Local,
    state: State,
    training: "Training",
    rng: np.random.Generator,
    term: Term | None,
) -> State:
    net.load(state)
    adam = torch.optim.Adam(
        net.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay, fused=True
    )
    for _ in range(training.epochs):
        still_wanted()
        h, logits = net(client.reach, rng)
        loss = cross_entropy(logits, client.label)
        if term is not None:
            loss = loss + term(net, h)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return net.state()
