"""Image files that were skipped, with the reason."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """A skipped image: ``Skipped("a.jpg", "is empty (0 bytes); copy it again.")``."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


def summarize_skipped(skipped: Sequence[Skipped], n_shown: int = 5) -> str:
    """Return a line for each of the first skipped images, and the number of the others.

    Examples
    --------
    >>> skipped = [Skipped("a.jpg", "is empty."), Skipped("b.jpg", "is a video.")]
    >>> print(summarize_skipped(skipped, n_shown=1))
    'a.jpg' is empty.
    … and 1 more.
    """
    lines = [str(image) for image in skipped[:n_shown]]
    if len(skipped) > n_shown:
        lines.append(f"… and {len(skipped) - n_shown} more.")
    return "\n".join(lines)
