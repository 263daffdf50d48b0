"""Uploads and settings as Flower records: exactly what travels, and how many bytes it is."""

from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

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


def upload_record(labels: np.ndarray, counts: np.ndarray, prototypes: np.ndarray) -> ArrayRecord:
    """The one answer of a client: labels and counts as int32, prototypes as float32."""
    return ArrayRecord(
        {
            "labels": Array(labels.astype(np.int32)),
            "counts": Array(counts.astype(np.int32)),
            "prototypes": Array(prototypes.astype(np.float32)),
        }
    )


def record_bytes(content: RecordDict) -> int:
    """Bytes of everything in an answer as Flower counts them."""
    return sum(record.count_bytes() for record in content.values())
