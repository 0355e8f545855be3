"""A colour for each group, neighbours different, as near to the scores as can be found.

Each connected part is solved alone. Exactly if it is small, or if all its groups
differ from each other; else greedily, the most decided group first, mended where
groups still clash or searched for if that fails, both within bounds. Then colours
are swapped as long as this gains something. With two colours that is exact too.
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import islice

import numpy as np
import numpy.typing as npt

from likewise.constraints.colour_mend import mend
from likewise.constraints.colour_search import (
    Neighbours,
    Scores,
    core_colours,
    exact_colours,
    matched_colours,
)
from likewise.constraints.colour_swaps import swap_for_gain

SMALL = 8  # groups in a part that is solved exactly


def colour(
    scores: npt.NDArray[np.floating], neighbours: Neighbours, sizes: Sequence[int] | None = None
) -> list[int]:
    """Return the colour of each group.

    Parameters
    ----------
    scores : array of shape (g, k)
        Higher is better; the sum over all groups is to be large.
    neighbours : list of list of int
        Which groups should get another colour.
    sizes : sequence of int, optional
        Images of each group: where neighbours must share a colour, it is small ones.
    """
    sizes = [1] * len(scores) if sizes is None else sizes
    rows: Scores = scores.tolist()
    colours: list[int] = scores.argmax(axis=1).tolist()
    for part in _parts(neighbours):
        if _n_clashes(colours, neighbours, part):  # else nothing can be nearer
            place = {group: position for position, group in enumerate(part)}
            inside = [[place[other] for other in neighbours[group]] for group in part]
            found = _colour_part(
                [rows[group] for group in part], inside, [sizes[group] for group in part]
            )
            for group, chosen in zip(part, found, strict=True):
                colours[group] = chosen
    return colours


def _colour_part(scores: Scores, neighbours: Neighbours, sizes: Sequence[int]) -> list[int]:
    """Return the colours of one connected part."""
    n_groups, n_colours = len(scores), len(scores[0])
    if n_groups <= n_colours and all(len(others) == n_groups - 1 for others in neighbours):
        return matched_colours(scores)
    colours = exact_colours(scores, neighbours) if n_groups <= SMALL else None
    if colours is None:
        colours = greedy_colours(scores, neighbours)
    everyone = range(n_groups)
    if _n_clashes(colours, neighbours, everyone):
        colours = mend(colours, scores, neighbours, sizes)
    if _n_clashes(colours, neighbours, everyone):
        colours = core_colours(scores, neighbours) or colours
    return swap_for_gain(colours, scores, neighbours)


def greedy_colours(scores: Scores, neighbours: Neighbours) -> list[int]:
    """Colour the group first that has most to lose from a second choice; clashes may remain."""
    liked = [sorted(range(len(row)), key=row.__getitem__, reverse=True) for row in scores]
    n_taken = [[0] * len(row) for row in scores]  # how many neighbours have each colour
    colours, choices = [-1] * len(scores), [order[:2] for order in liked]

    def queued(group: int) -> tuple[float, int]:
        row, choice = scores[group], choices[group]
        return (row[choice[1]] - row[choice[0]] if len(choice) == 2 else -np.inf), group

    queue = [queued(group) for group in range(len(scores))]
    heapify(queue)
    while queue:
        entry = heappop(queue)
        group = entry[1]
        if colours[group] >= 0 or entry != queued(group):  # done, or queued again since
            continue
        colours[group] = chosen = min(liked[group], key=n_taken[group].__getitem__)
        for other in neighbours[group]:
            n_taken[other][chosen] += 1
            if chosen in choices[other]:
                free = (c for c in liked[other] if not n_taken[other][c])
                choices[other] = list(islice(free, 2))
                heappush(queue, queued(other))
    return colours


def _parts(neighbours: Neighbours) -> list[list[int]]:
    """Return the connected parts that have more than one group."""
    seen = [not others for others in neighbours]
    parts = []
    for start in range(len(neighbours)):
        if not seen[start]:
            seen[start], part = True, [start]
            for group in part:  # grows as we go
                new = [other for other in neighbours[group] if not seen[other]]
                for other in new:
                    seen[other] = True
                part += new
            parts.append(part)
    return parts


def _n_clashes(colours: list[int], neighbours: Neighbours, groups: list[int] | range) -> int:
    """Return how often a group has the colour of a neighbour."""
    return sum(colours[group] == colours[other] for group in groups for other in neighbours[group])
