"""Where each of several named arrays stands when all are laid side by side."""

from collections.abc import Mapping
from itertools import accumulate


def side_by_side(widths: Mapping[str, int]) -> dict[str, slice]:
    """Return the columns each facet takes when all stand side by side."""
    ends = list(accumulate(widths.values()))
    return {
        facet: slice(end - width, end)
        for (facet, width), end in zip(widths.items(), ends, strict=True)
    }
