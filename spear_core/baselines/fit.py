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
) -> State:
    """The parameters after E steps from `state`, with a new optimiser."""
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
