"""The `ImageCollection` protocol that all image sources implement; skipped images; duplicates."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

_SURROGATES = re.compile("[\ud800-\udfff]")  # `os.fsdecode` makes them of undecodable bytes
Pixels = npt.NDArray[np.uint8]  # (h, w, 3), RGB


@runtime_checkable
class ImageCollection(Protocol):
    """Common interface of a folder, a list of paths and an array of images."""

    def __len__(self) -> int:
        """Return the number of images."""

    def pixels(self, index: int) -> Pixels:
        """Return an image upright, as RGB in its original size (h, w, 3).

        Raises
        ------
        ImageError
            If the image cannot be read.
        """

    def identity(self, index: int) -> str:
        """Return the content hash: 64 hexadecimal digits, stable on disk."""

    def name(self, index: int) -> str:
        """Return the displayed name of the image, such as its path below the folder."""


def find_duplicates(identities: Iterable[str]) -> list[list[int]]:
    """Return the positions of each identity that occurs more than once.

    Examples
    --------
    >>> find_duplicates(["a", "b", "a", "c", "b"])
    [[0, 2], [1, 4]]
    """
    positions = defaultdict(list)
    for position, identity in enumerate(identities):
        positions[identity].append(position)
    return [same for same in positions.values() if len(same) > 1]


@dataclass(frozen=True)
class Skipped:
    """A skipped image: ``Skipped("a.jpg", "is empty (0 bytes); copy it again.")``."""

    name: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", displayed_name(self.name))

    def __str__(self) -> str:
        return f"{self.name!r} {self.reason}"


def displayed_name(name: str) -> str:
    r"""Return a file name as valid Unicode: bytes that are not UTF-8 become U+FFFD.

    Examples
    --------
    >>> import os
    >>> displayed_name(os.fsdecode(b"caf\xe9.png")) == "caf\ufffd.png"
    True
    """
    return _SURROGATES.sub("\ufffd", name)


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
