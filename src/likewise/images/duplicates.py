"""Images with the same content."""

from collections import defaultdict
from collections.abc import Iterable


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
