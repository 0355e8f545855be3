"""How a long step says how far it is, without knowing who is watching."""

from typing import Protocol


class Progress(Protocol):
    """Called with the work done so far and all there is; must be quick."""

    def __call__(self, done: int, total: int) -> None:
        """Take note."""


def silent(done: int, total: int) -> None:
    """Watch nothing: the default of every long step."""
