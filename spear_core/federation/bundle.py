"""The folder that `flwr run` packs and sends: the engine's files and a pyproject.toml.

Made anew for every run, so that it is the same from a checkout and from an installed package.
"""

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spear_core.errors import SpearError
from spear_core.federation.names import RUN_SETTINGS
from spear_core.settings import Settings

ENGINE = Path(__file__).resolve().parents[1]
ROOT = ENGINE.parent  # the project, or the site-packages that it was installed into
PROJECT = next(  # installed, or here
    filter(Path.is_file, (ROOT / "spear_app" / "pyproject.toml", ROOT / "pyproject.toml")), None
)


def app_config() -> dict[str, Any]:
    """What names the Flower app: its project, its two halves and every key of its run config.

    The settings that a run is told are read from `Settings`.
    """
    if PROJECT is None:
        raise SpearError(f"The Flower app is not described: there is no pyproject.toml in {ROOT}.")
    whole = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    app, usual = whole["tool"]["flwr"]["app"], Settings()
    app["config"] |= {name.replace("_", "-"): getattr(usual, name) for name in RUN_SETTINGS}
    about = {name: whole["project"][name] for name in ("name", "version", "description", "license")}
    return {"project": about, "tool": {"flwr": {"app": app}}}


@contextmanager
def bundle() -> Iterator[Path]:
    """A folder that `flwr run` takes, gone afterwards."""
    import tomli_w

    with tempfile.TemporaryDirectory(prefix="spear-bundle-") as scratch:
        folder = Path(scratch) / "spear"
        caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ENGINE, folder / ENGINE.name, ignore=caches)
        text = tomli_w.dumps(app_config())
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
        yield folder
