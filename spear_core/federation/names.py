"""Which settings a federated run is told, and which it cannot have; needs no Flower."""

import math
from dataclasses import replace

from spear_core.defences import DEFENCES
from spear_core.errors import SettingError
from spear_core.graph import Graph
from spear_core.settings import Settings

KNOBS = tuple(dict.fromkeys(one.knob for one in DEFENCES.values() if one.knob))  # each once
SMOOTHING = ("smoothing", "gate", "gate_alpha", "gate_steps", "test_alpha", "test_steps")
MESSAGE = ("head", "sketch", "sketch_cap", "seed")  # the seed draws a sketch's random columns
PRIVACY = ("epsilon", "delta", "mechanism")
RUN_SETTINGS = (  # everything else in Settings says how a demo is split
    *("alpha", "steps", "gamma", "shrinkage", "count_weights", "peers"),
    *(*SMOOTHING, *MESSAGE, "ridge"),
    *("defence", *KNOBS, *PRIVACY),
)
SHAPE = ("classes", "features")  # C and F: no client may choose them, and there is no usual value
CLIENT_SETTINGS = ("alpha", "steps", *SMOOTHING, *MESSAGE, *PRIVACY, *SHAPE)  # told to clients


def shaped(settings: Settings, graph: Graph) -> Settings:
    """The settings with C and F of a graph, as a federation of its clients is told them."""
    return replace(settings, classes=graph.classes, features=graph.num_features)


def refused() -> dict[str, str]:
    """Why a federation cannot have a defence, by its name; the others of the table are offered."""
    reasons = {
        one.name: "looks at a test graph that a real server does not have"
        for one in DEFENCES.values()
        if one.needs_graph
    }
    return reasons | {
        one.name: "is told who lies, which nobody knows in a federation"
        for one in DEFENCES.values()
        if one.knows_liars
    }


def offered(settings: Settings) -> Settings:
    """The settings as they are, or one sentence if they need more than clients send."""
    if settings.reliability != "count":
        raise SettingError("Clients do not send their degrees; federate with reliability = count.")
    why = refused().get(settings.defence)
    if why:
        raise SettingError(f"defence = {settings.defence} {why}; federate with another defence.")
    return settings


def sketch_rank(settings: Settings) -> float:
    """The rank of the sketch that clients are asked for: none under privacy, or by the cosine."""
    asked = settings.head == "ridge" and settings.epsilon == math.inf
    return settings.sketch if asked else 0.0


def sends(settings: Settings) -> str:
    """What a client sends, in words."""
    if settings.head == "cosine":
        return "prototypes and counts"
    sketch = "a sketch of its residuals" if sketch_rank(settings) else "no sketch of its residuals"
    return f"prototypes, counts, its energy and {sketch}"


def honest(settings: Settings) -> Settings:
    """The settings as they are, or one sentence if a demo of real clients cannot follow them."""
    lies = settings.forge != "none" or settings.inflate != 1
    if lies and (settings.attacker_count or settings.attackers == "chosen"):
        raise SettingError(
            "The clients of the demo are the real ones and forge nothing; "
            "set forge = none and inflate = 1."
        )
    if settings.noise_test:
        raise SettingError("The demo compares on the clean test graph; set noise_test = false.")
    return offered(settings)
