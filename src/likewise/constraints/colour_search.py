"""Colours by search: the best ones for a few groups, any that do for the core of many."""

from collections import Counter
from itertools import accumulate

import numpy as np

Neighbours = list[list[int]]
Scores = list[list[float]]  # a row for each group, a column for each colour
MAX_STEPS = 2_000
MAX_CORE = 300  # groups; a step of the search looks at all of them


def exact_colours(scores: Scores, neighbours: Neighbours) -> list[int] | None:
    """Return the best colours, or None if there are none or the search takes too long."""
    order = sorted(range(len(scores)), key=lambda group: -len(neighbours[group]))
    # what the groups from each depth on can bring at most
    ceiling = [*accumulate((max(scores[group]) for group in reversed(order)), initial=0.0)][::-1]
    colours, best = [-1] * len(scores), list[int]()
    best_total, n_steps = -np.inf, 0

    def descend(depth: int, total: float) -> None:
        nonlocal best, best_total, n_steps
        n_steps += 1
        if total + ceiling[depth] <= best_total or n_steps > MAX_STEPS:
            return
        if depth == len(order):
            best, best_total = colours.copy(), total
            return
        group = order[depth]
        taken = {colours[other] for other in neighbours[group]}
        row = scores[group]
        for chosen in sorted(range(len(row)), key=row.__getitem__, reverse=True):
            if chosen not in taken:
                colours[group] = chosen
                descend(depth + 1, total + row[chosen])
        colours[group] = -1

    descend(0, 0.0)
    return best or None


def matched_colours(scores: Scores) -> list[int]:
    """Return the best colours for groups that all differ from each other; at most one each."""
    from scipy.optimize import linear_sum_assignment

    _, columns = linear_sum_assignment(np.array(scores), maximize=True)
    matched: list[int] = columns.tolist()
    return matched


def core_colours(scores: Scores, neighbours: Neighbours) -> list[int] | None:
    """Return colours that clash nowhere, or None if none were found.

    A group with fewer neighbours than there are colours can be coloured after
    them; what is left when all such groups are taken away, again and again, is
    the core. Only that needs a search, and there colours are interchangeable.
    """
    n_colours = len(scores[0])
    core, later = _core(neighbours, n_colours)
    search = _Search(core, neighbours, n_colours)
    if len(core) > MAX_CORE or not search.succeeds():
        return None
    colours = [-1] * len(scores)
    for group, chosen in _by_score(search.found, scores).items():
        colours[group] = chosen
    for group in reversed(later):
        taken = {colours[other] for other in neighbours[group]}
        free = [chosen for chosen in range(n_colours) if chosen not in taken]
        colours[group] = max(free, key=scores[group].__getitem__)
    return colours


def _core(neighbours: Neighbours, n_colours: int) -> tuple[set[int], list[int]]:
    """Return the core, and the other groups in the order they were taken away."""
    degrees = [len(others) for others in neighbours]
    core = set(range(len(neighbours)))
    later = [group for group in core if degrees[group] < n_colours]
    core.difference_update(later)
    for group in later:  # grows as we go
        for other in neighbours[group]:
            degrees[other] -= 1
            if other in core and degrees[other] < n_colours:
                core.discard(other)
                later.append(other)
    return core, later


class _Search:
    """Colours for the core, up to their names; the group with least choice goes first."""

    def __init__(self, core: set[int], neighbours: Neighbours, n_colours: int) -> None:
        self._core, self._n_colours, self._n_steps = sorted(core), n_colours, 0
        self._inside = {group: [o for o in neighbours[group] if o in core] for group in core}
        self._taken = {group: Counter[int]() for group in core}  # by its neighbours
        self.found: dict[int, int] = {}

    def succeeds(self) -> bool:
        """Go on from the colours found so far; return whether all groups have one."""
        self._n_steps += 1
        if len(self.found) == len(self._core) or self._n_steps > MAX_STEPS:
            return len(self.found) == len(self._core)
        group = max(self._core, key=self._urgency)
        # colours nobody has are all alike: the first of them is enough
        n_tried = min(len(set(self.found.values())) + 1, self._n_colours)
        for chosen in [tried for tried in range(n_tried) if tried not in self._taken[group]]:
            self._paint(group, chosen)
            if self.succeeds():
                return True
            self._unpaint(group)
        return False

    def _urgency(self, group: int) -> tuple[bool, int, int]:
        return group not in self.found, len(self._taken[group]), len(self._inside[group])

    def _paint(self, group: int, chosen: int) -> None:
        self.found[group] = chosen
        for other in self._inside[group]:
            self._taken[other][chosen] += 1

    def _unpaint(self, group: int) -> None:
        chosen = self.found.pop(group)
        for other in self._inside[group]:
            self._taken[other][chosen] -= 1
            if not self._taken[other][chosen]:
                del self._taken[other][chosen]


def _by_score(found: dict[int, int], scores: Scores) -> dict[int, int]:
    """Rename colours that are interchangeable so that the sum of scores is largest."""
    gains = np.zeros((len(scores[0]), len(scores[0])))
    for group, chosen in found.items():
        gains[chosen] += scores[group]
    names = matched_colours(gains.tolist())
    return {group: names[chosen] for group, chosen in found.items()}
