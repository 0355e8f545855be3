"""A colour for each group, neighbours different, as near to the scores as can be found.

Each connected part is solved alone. A small one exactly. A larger one greedily,
the most decided group first; if that fails, by a bounded search. Then colours
are swapped as long as this gains something. With two colours that is exact too.
"""

from heapq import heapify, heappop, heappush

import numpy as np
import numpy.typing as npt

from likewise.constraints.colour_search import Neighbours, Scores, core_colours, exact_colours
from likewise.constraints.colour_swaps import mend, swap_for_gain

SMALL = 8  # groups in a part that is solved exactly


def colour(scores: npt.NDArray[np.floating], neighbours: Neighbours) -> list[int]:
    """Return the colour of each group.

    Parameters
    ----------
    scores : array of shape (g, k)
        Higher is better; the sum over all groups is to be large.
    neighbours : list of list of int
        Which groups should get another colour.
    """
    rows: Scores = scores.tolist()
    colours: list[int] = scores.argmax(axis=1).tolist()
    for part in _parts(neighbours):
        if _n_clashes(colours, neighbours, part):  # else nothing can be nearer
            place = {group: position for position, group in enumerate(part)}
            inside = [[place[other] for other in neighbours[group]] for group in part]
            found = _colour_part([rows[group] for group in part], inside)
            for group, chosen in zip(part, found, strict=True):
                colours[group] = chosen
    return colours


def _colour_part(scores: Scores, neighbours: Neighbours) -> list[int]:
    """Return the colours of one connected part."""
    colours = exact_colours(scores, neighbours) if len(scores) <= SMALL else None
    if colours is None:
        colours = _greedy(scores, neighbours)
    if _n_clashes(colours, neighbours, range(len(scores))):
        found = core_colours(scores, neighbours)
        colours = mend(colours, scores, neighbours) if found is None else found
    return swap_for_gain(colours, scores, neighbours)


def _greedy(scores: Scores, neighbours: Neighbours) -> list[int]:
    """Colour the group first that has most to lose from a second choice."""
    preferences = [sorted(range(len(row)), key=row.__getitem__, reverse=True) for row in scores]
    colours = [-1] * len(scores)

    def urgency(group: int) -> float:
        taken = {colours[other] for other in neighbours[group]}
        free = [chosen for chosen in preferences[group] if chosen not in taken][:2]
        return scores[group][free[0]] - scores[group][free[1]] if len(free) == 2 else np.inf

    queue = [(-urgency(group), group) for group in range(len(scores))]
    heapify(queue)
    while queue:
        noted, group = heappop(queue)
        if colours[group] >= 0 or -noted < urgency(group):  # done, or noted again since
            continue
        taken = [colours[other] for other in neighbours[group]]
        # Python's sort is stable: the first of the least taken is the best scored of them
        colours[group] = min(preferences[group], key=taken.count)
        for other in neighbours[group]:
            if colours[other] < 0:
                heappush(queue, (-urgency(other), other))
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
