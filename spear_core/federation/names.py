"""Which settings a federated run is told, and which it cannot have; needs no Flower."""

from dataclasses import replace

from spear_core.defences import DEFENCES
from spear_core.errors import SettingError
from spear_core.graph import Graph
from spear_core.settings import Settings

KNOBS = tuple(dict.fromkeys(one.knob for one in DEFENCES.values() if one.knob))  # each once
RUN_SETTINGS = (  # everything else in Settings says how a demo is split
    *("alpha", "steps", "gamma", "shrinkage", "count_weights", "peers"),
    *("defence", *KNOBS, "epsilon", "delta", "mechanism"),
)
SHAPE = ("classes", "features")  # C and F: no client may choose them, and there is no usual value
CLIENT_SETTINGS = ("alpha", "steps", "epsilon", "delta", "mechanism", *SHAPE)  # told to clients


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
    if settings.head != "cosine" or settings.smoothing != "fixed":
        raise SettingError(
            "Clients of a federation smooth and send as the paper says; federate with "
            "smoothing = fixed and head = cosine."
        )
    why = refused().get(settings.defence)
    if why:
        raise SettingError(f"defence = {settings.defence} {why}; federate with another defence.")
    return settings


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
