"""What the server looks at before it believes an upload."""

from dataclasses import dataclass

from spear_core.client import Uploads


@dataclass(frozen=True)
class Rejected:
    """An upload that cannot be true, and why."""

    client: int
    label: int
    reason: str

    @property
    def sentence(self) -> str:
        return f"Dropped from client {self.client}, class {self.label}: {self.reason}."


def check(uploads: Uploads) -> tuple[Uploads, tuple[Rejected, ...]]:
    """The uploads that can be true, and the others with the reason."""
    return uploads, ()
