"""Errors a person can act on: each is one sentence that says what to do."""

import unicodedata


def one_line(text: object) -> str:
    """Text of others on one line, with nothing left that steers a terminal or turns text around.

    >>> one_line("a\\n\\x1b[2Jb")
    'a [2Jb'
    """
    line = " ".join(str(text).split())
    return "".join(c for c in line if not unicodedata.category(c).startswith("C"))


class SpearError(Exception):
    """Anything wrong that the reader can put right; its text is the whole message."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it: the sentence, without a traceback."""
        return [str(self)]


class SettingError(SpearError, ValueError):
    """A value of `Settings` that cannot be run."""


class DataMissing(SpearError, FileNotFoundError):
    """A dataset that is neither on disk nor to be had."""

    def __str__(self) -> str:  # FileNotFoundError would print the errno form
        return str(self.args[0]) if self.args else ""


class DataDamaged(SpearError, ValueError):
    """Files or tensors that do not form a usable graph."""


class StorageError(SpearError, OSError):
    """A cache folder that cannot be written, or a full disk."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class LibraryMissing(SpearError, ImportError):
    """A library that only some of the package needs, and that is not installed."""
