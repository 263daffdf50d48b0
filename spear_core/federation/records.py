"""Uploads and settings as Flower records: exactly what travels, and how many bytes it is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from spear_core.client import Uploads
from spear_core.errors import SettingError
from spear_core.federation.names import CLIENT_SETTINGS, RUN_SETTINGS, SHAPE
from spear_core.settings import Settings


def settings_record(settings: Settings) -> ConfigRecord:
    """What a client needs to know of the settings."""
    plain = settings.to_dict()
    return ConfigRecord({name: plain[name] for name in CLIENT_SETTINGS})


def client_settings(record: ConfigRecord) -> Settings:
    """The settings a client works with; everything else is the server's own business."""
    return Settings(**{name: record[name] for name in CLIENT_SETTINGS})  # type: ignore[arg-type]


def run_settings(config: Any) -> Settings:
    """The settings in a run config, whose keys have hyphens instead of underscores."""
    if not all(config[name] for name in SHAPE):
        raise SettingError("Say how many classes and features the clients have: classes, features.")
    names = (*RUN_SETTINGS, *SHAPE)
    return Settings(**{name: config[name.replace("_", "-")] for name in names})


def upload_record(made: Uploads) -> ArrayRecord:
    """The one answer of a client: labels and counts as int32, prototypes as float32.

    For the ridge head also its energy as one float64, where there is any label, and the rows of its
    sketch as float32.
    """
    parts: dict[str, tuple[Any, Any]] = {
        "labels": (made.label, np.int32),
        "counts": (made.counts, np.int32),
        "prototypes": (made.prototypes, np.float32),
    }
    if made.residuals is not None:
        parts["energy"] = made.residuals.energy[: len(made.label)], np.float64
        parts["sketch"] = made.residuals.rows, np.float32
    return array_record({name: p.cpu().numpy().astype(kind) for name, (p, kind) in parts.items()})


def array_record(arrays: Mapping[str, np.ndarray]) -> ArrayRecord:
    """Arrays under their names, as they travel."""
    return ArrayRecord({name: Array(array) for name, array in arrays.items()})


def record_bytes(content: RecordDict) -> int:
    """Bytes of everything in an answer as Flower counts them."""
    return sum(record.count_bytes() for record in content.values())
