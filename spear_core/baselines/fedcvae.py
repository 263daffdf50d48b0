"""FedCVAE: clients send a decoder of their training rows, the server trains a GCN on made-up ones.

Every client fits a conditional variational autoencoder to its training rows and sends the decoder
with the shares of its classes. The server draws rows from all decoders and fits one decoder to
them (kind `kd`), or uses them as they are (kind `ens`), and trains the model on what comes out.

Graphs force: the rows are joined to their nearest, and all of a client's rows are one batch. Words
of 0 and 1 are fitted by binary cross-entropy, other features by squared error.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn import Linear, Module
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    mse_loss,
    normalize,
    one_hot,
)

from spear_core.baselines.fedavg import Federation, Message
from spear_core.baselines.generator import MOST, begun, made_graph
from spear_core.baselines.knobs import Knobs
from spear_core.baselines.local import Local
from spear_core.baselines.oneshot import OneShot, descend, normal
from spear_core.fields import setting
from spear_core.randomness import generator
from spear_core.wanted import still_wanted

WIDTH = 256
RATE = 1e-3  # of the clients' Adam
BATCH = 256  # rows of a step of the server's decoder


@dataclass(frozen=True)
class FedCVAEKnobs(Knobs):
    """What FedCVAE adds."""

    cvae_kind: str = setting(
        "kd",
        "what the server draws from: kd (one decoder fitted to the clients'), ens (the clients')",
        choices=("kd", "ens"),
    )
    cvae_latent: int = setting(10, "width of the latent space", low=1, high=10**4)
    cvae_window: float = setting(3.0, "largest |z| that is drawn", above=0.0, high=100.0)
    cvae_steps: int = setting(500, "steps of the server's decoder", low=0, high=10**5)
    cvae_rate: float = setting(0.01, "of the Adam of the server's decoder", above=0.0, high=1e3)
    cvae_nodes: int = setting(1000, "nodes that the model is trained on", low=2, high=MOST)
    cvae_classifier: int = setting(200, "steps of the model", low=1, high=10**5)
    cvae_neighbours: int = setting(5, "links of a made-up row; 0 for none", low=0, high=100)
    cvae_smooth: bool = setting(False, "whether clients average rows with their neighbours' first")


class Decoder(Module):
    """[z ‖ one-hot y] → 256 → F."""

    def __init__(self, latent: int, classes: int, features: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.first, self.last = Linear(latent + classes, WIDTH), Linear(WIDTH, features)
        self.classes = classes

    def forward(self, z: Tensor, label: Tensor) -> Tensor:
        given = torch.cat([z, one_hot(label, self.classes).to(z.dtype)], dim=1)
        return self.last(self.first(given).relu())


class Encoder(Module):
    """x → 256 → μ and log σ²; it does not see the class."""

    def __init__(self, latent: int, features: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            self.first, self.last = Linear(features, WIDTH), Linear(WIDTH, 2 * latent)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_variance = self.last(self.first(x).relu()).chunk(2, dim=1)
        return mean, log_variance


class FedCVAE(OneShot):
    """Nobody can draw a class that nobody holds, so the model is trained on the others."""

    knobs = FedCVAEKnobs

    def __init__(self, federation: Federation) -> None:
        super().__init__(federation)
        words = all(_of_words(client.features) for client in federation.clients)
        self.words = words and not self.training.cvae_smooth

    def local(self, k: int, message: Message, rng: np.random.Generator) -> Message:
        client, f, t = self.clients[k], self.federation, self.training
        if not client.trains:
            return {}
        x = _rows(client, t.cvae_smooth, self.words)
        encoder, decoder = Encoder(t.cvae_latent, f.features), self._decoder()
        both = generator(f.seed, "first weights of FedCVAE's clients")
        begun(encoder, both, f.device)
        begun(decoder, both, f.device)
        adam = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=RATE)
        for _ in range(t.epochs):
            still_wanted()
            mean, log_variance = encoder(x)
            noise = normal(rng, *mean.shape, device=f.device)
            z = mean + (log_variance / 2).exp() * noise
            kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum(1).mean()
            descend(adam, self.misfit(decoder(z, client.label), x) + kl)
        count = torch.bincount(client.label, minlength=f.classes)
        sent = {name: p.detach().clone() for name, p in decoder.named_parameters()}
        return {"decoder": sent, "shares": count / count.sum(), "count": len(x)}

    def misfit(self, logits: Tensor, x: Tensor) -> Tensor:
        """Summed over features, a mean over rows, so that it is in balance with the KL term."""
        loss = binary_cross_entropy_with_logits if self.words else mse_loss
        return loss(logits, x, reduction="none").sum(1).mean()

    def finished(self, logits: Tensor) -> Tensor:
        """Rows as a decoder means them."""
        return logits.sigmoid() if self.words else logits

    def begin(self, uploads: list[Message], rng: np.random.Generator) -> None:
        t, f = self.training, self.federation
        sent = [u for u in uploads if u]
        self.fitting = t.cvae_steps if t.cvae_kind == "kd" else 0
        self.steps = self.fitting + t.cvae_classifier if sent else 0
        if not sent:
            return
        self.decoders = [self._decoder() for _ in sent]
        for decoder, upload in zip(self.decoders, sent, strict=True):
            decoder.load_state_dict(upload["decoder"])
        count = torch.tensor([float(u["count"]) for u in sent])
        held = torch.stack([u["shares"].cpu() for u in sent])  # (k, C)
        cells = (count[:, None] * held).double().numpy()
        self.cells = cells / cells.sum()
        self.student(t.learning_rate, t.weight_decay, t.dropout)
        if t.cvae_kind == "kd":
            merged = self.parts["decoder"] = self._decoder()
            begun(merged, generator(f.seed, "first weights of FedCVAE's server"), f.device)
            self.parts["decoder_adam"] = torch.optim.Adam(merged.parameters(), lr=t.cvae_rate)

    def step(self, number: int, rng: np.random.Generator) -> None:
        t, f = self.training, self.federation
        if number <= self.fitting:
            z, label, rows = self.drawn(BATCH, rng, self.cells)
            said = self.parts["decoder"](z, label)
            descend(self.parts["decoder_adam"], self.misfit(said, rows))
            return
        if "rows" not in self.memory:
            self.memory = self.graph(generator(f.seed, "rows of FedCVAE's server"))
        graph = made_graph(self.memory["rows"], t.cvae_neighbours)
        said = self.parts["student"](graph, rng)[1]
        descend(self.parts["adam"], cross_entropy(said, self.memory["label"]))

    def graph(self, rng: np.random.Generator) -> dict[str, Tensor]:
        """The rows and labels of the model, every held class as often."""
        held = self.cells.sum(0) > 0
        even = np.where(held, self.cells / np.where(held, self.cells.sum(0), 1), 0) / held.sum()
        z, label, rows = self.drawn(self.training.cvae_nodes, rng, even)
        with torch.no_grad():
            merged = self.parts.get("decoder")
            rows = self.finished(merged(z, label)) if merged is not None else rows
        return {"rows": normalize(rows, dim=1) if self.words else rows, "label": label}

    @torch.no_grad()
    def drawn(
        self, n: int, rng: np.random.Generator, cells: np.ndarray
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Noise, labels and rows, of (client, class) cells drawn as often as the array says."""
        device, w = self.federation.device, self.training.cvae_window
        client, label = np.divmod(rng.choice(cells.size, n, p=cells.ravel()), cells.shape[1])
        noise = rng.standard_normal((n, self.training.cvae_latent))
        while (far := np.abs(noise) > w).any():
            noise[far] = rng.standard_normal(int(far.sum()))
        z = torch.as_tensor(noise.astype("float32"), device=device)
        y = torch.as_tensor(label, device=device)
        rows = torch.zeros(n, self.federation.features, device=device)
        for k in np.unique(client):
            mine = torch.as_tensor(np.flatnonzero(client == k), device=device)
            rows[mine] = self.finished(self.decoders[k](z[mine], y[mine]))
        return z, y, rows

    def _decoder(self) -> Decoder:
        f = self.federation
        return Decoder(self.training.cvae_latent, f.classes, f.features).to(f.device)


def _of_words(features: sp.csr_matrix) -> bool:
    """Whether every row says of words only which are there: its numbers above 0 are equal."""
    if features.nnz == 0:
        return True
    first = np.repeat(features.max(1).toarray().ravel(), np.diff(features.indptr))
    return bool(np.allclose(features.data[features.data != 0], first[features.data != 0]))


def _rows(client: Local, smooth: bool, words: bool) -> Tensor:
    """The training rows that the autoencoder is fitted to."""
    if not smooth:
        rows = client.training_rows
        return (rows > 0).float() if words else rows
    a = client.links + sp.identity(client.nodes, format="csr")
    near = a[client.train.cpu().numpy()]
    mean = sp.diags(1 / near.sum(1).A1) @ near @ client.features
    return torch.as_tensor(mean.toarray(), dtype=torch.float32, device=client.label.device)
