"""What tests of widgets share with those of loading: an empty data folder, and no network."""

from tests.datasets.conftest import data, offline  # noqa: F401  pytest finds them here
