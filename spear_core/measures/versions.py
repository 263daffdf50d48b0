"""With what numbers were made: a string to be kept beside them."""

import platform
from importlib.metadata import version

PACKAGES = ("torch", "numpy", "scikit-learn")  # that the numbers can depend on


def versions() -> str:
    """Python's version and those of `PACKAGES`, as `Python 3.12.3, torch 2.9.0, …`."""
    parts = [f"{name} {version(name)}" for name in PACKAGES]
    return ", ".join([f"Python {platform.python_version()}", *parts])
