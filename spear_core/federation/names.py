"""Which settings a federated run is told, and which it cannot have; needs no Flower."""

from spear_core.errors import SettingError
from spear_core.settings import Settings

RUN_SETTINGS = (  # everything else in Settings says how a demo is split
    *("alpha", "steps", "gamma", "shrinkage", "count_weights", "peers"),
    *("defence", "cap_share", "trim", "expected_attackers", "epsilon", "delta", "mechanism"),
)
CLIENT_SETTINGS = ("alpha", "steps", "epsilon", "delta", "mechanism")  # of these, the clients


def offered(settings: Settings) -> Settings:
    """The settings as they are, or one sentence if they need more than clients send."""
    if settings.reliability != "count":
        raise SettingError("Clients do not send their degrees; federate with reliability = count.")
    if settings.defence == "consensus":
        raise SettingError(
            "defence = consensus looks at a test graph that a real server does not have; "
            "federate with another defence."
        )
    if settings.defence == "oracle":
        raise SettingError(
            "defence = oracle is told who lies, which nobody knows in a federation; "
            "federate with another defence."
        )
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
