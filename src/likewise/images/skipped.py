"""Pictures that were left out, by name and with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """One picture left out: ``Skipped("a.jpg", "is empty (0 bytes); copy it again.")``."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


def summary(skipped: Sequence[Skipped], n_shown: int = 5) -> str:
    """Return one line a picture left out, the first few, and how many more there are.

    Examples
    --------
    >>> print(summary([Skipped("a.jpg", "is empty."), Skipped("b.jpg", "is a film.")], n_shown=1))
    'a.jpg' is empty.
    … and 1 more.
    """
    lines = [str(one) for one in skipped[:n_shown]]
    if len(skipped) > n_shown:
        lines.append(f"… and {len(skipped) - n_shown} more.")
    return "\n".join(lines)
