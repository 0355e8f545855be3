"""Graph colouring with scores, for assignments in which cannot-linked images must differ.

Each connected part is solved separately: exactly if it is a clique (assignment
problem) or small (branch and bound); otherwise greedily, and by tabu search
where neighbours still share a colour. Then Kempe chains are swapped as long as
the sum grows. With two colours that is exact too. Nothing is random.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, islice

import numpy as np
import numpy.typing as npt

Neighbours = list[list[int]]
Scores = list[list[float]]  # a row for each group, a column for each colour
Move = tuple[int, float, int, int]  # added clashes, lost score, group, new colour

MAX_EXACT = 8  # groups in a part that is solved exactly
MAX_NODES = 2_000  # of the branch-and-bound tree
MAX_MOVES = 1_000_000  # moves that tabu search evaluates: about a quarter of a second
MAX_IDLE = 1_000  # moves without improvement until tabu search stops
MAX_SWEEPS = 20  # of swaps over all groups
MAX_SWAP_STEPS = 1_000_000  # neighbours visited by swaps: about a tenth of a second
MIN_GAIN = 1e-9  # of a swap


def colour_graph(
    scores: npt.NDArray[np.floating], neighbours: Neighbours, sizes: Sequence[int] | None = None
) -> list[int]:
    """Return the colour of each group.

    Parameters
    ----------
    scores : array of shape (g, k)
        The sum over all groups is to be maximised.
    neighbours : list of list of int
        The groups that should get a different colour.
    sizes : sequence of int, optional
        Number of images of each group. Where neighbours cannot all have
        different colours, small groups should share one.
    """
    sizes = [1] * len(scores) if sizes is None else sizes
    rows: Scores = scores.tolist()
    colours: list[int] = scores.argmax(axis=1).tolist()
    for part in _connected_parts(neighbours):
        if all(colours[group] != colours[other] for group in part for other in neighbours[group]):
            continue  # every group has its best colour
        position = {group: i for i, group in enumerate(part)}
        inside = [[position[other] for other in neighbours[group]] for group in part]
        found = _colour_part([rows[g] for g in part], inside, [sizes[g] for g in part])
        for group, colour in zip(part, found, strict=True):
            colours[group] = colour
    return colours


def _connected_parts(neighbours: Neighbours) -> list[list[int]]:
    """Return the connected parts with more than one group."""
    seen = [not others for others in neighbours]
    parts = []
    for start in range(len(neighbours)):
        if not seen[start]:
            seen[start], part = True, [start]
            for group in part:  # grows during the loop
                new = [other for other in neighbours[group] if not seen[other]]
                for other in new:
                    seen[other] = True
                part += new
            parts.append(part)
    return parts


def _colour_part(scores: Scores, neighbours: Neighbours, sizes: Sequence[int]) -> list[int]:
    """Return the colours of one connected part."""
    n_groups, n_colours = len(scores), len(scores[0])
    if n_groups <= n_colours and all(len(others) == n_groups - 1 for others in neighbours):
        return _clique_colours(scores)
    colours = exact_colours(scores, neighbours) if n_groups <= MAX_EXACT else None
    if colours is None:
        colours = greedy_colours(scores, neighbours)
        colours = repair(colours, scores, neighbours, sizes)
    return swap_for_gain(colours, scores, neighbours)


def _clique_colours(scores: Scores) -> list[int]:
    """Return the best colours of groups that are all neighbours of each other."""
    from scipy.optimize import linear_sum_assignment

    _, columns = linear_sum_assignment(np.array(scores), maximize=True)
    matched: list[int] = columns.tolist()
    return matched


def exact_colours(scores: Scores, neighbours: Neighbours) -> list[int] | None:
    """Return the best colours by branch and bound; None if there are none or it takes too long."""
    order = sorted(range(len(scores)), key=lambda group: -len(neighbours[group]))
    # bound: the largest sum of scores of the groups from each depth on
    bound = [*accumulate((max(scores[group]) for group in reversed(order)), initial=0.0)][::-1]
    colours, best = [-1] * len(scores), list[int]()
    best_total, n_nodes = -np.inf, 0

    def descend(depth: int, total: float) -> None:
        nonlocal best, best_total, n_nodes
        n_nodes += 1
        if total + bound[depth] <= best_total or n_nodes > MAX_NODES:
            return
        if depth == len(order):
            best, best_total = colours.copy(), total
            return
        group = order[depth]
        taken = {colours[other] for other in neighbours[group]}
        row = scores[group]
        for colour in sorted(range(len(row)), key=row.__getitem__, reverse=True):
            if colour not in taken:
                colours[group] = colour
                descend(depth + 1, total + row[colour])
        colours[group] = -1

    descend(0, 0.0)
    return best or None


def greedy_colours(scores: Scores, neighbours: Neighbours) -> list[int]:
    """Colour first the group whose second choice costs most; clashes may remain."""
    preferred = [sorted(range(len(row)), key=row.__getitem__, reverse=True) for row in scores]
    n_taken = [[0] * len(row) for row in scores]  # number of neighbours with each colour
    colours, choices = [-1] * len(scores), [order[:2] for order in preferred]

    def queued(group: int) -> tuple[float, int]:
        row, choice = scores[group], choices[group]
        return (row[choice[1]] - row[choice[0]] if len(choice) == 2 else -np.inf), group

    queue = [queued(group) for group in range(len(scores))]
    heapify(queue)
    while queue:
        entry = heappop(queue)
        group = entry[1]
        if colours[group] >= 0 or entry != queued(group):  # coloured, or queued again since
            continue
        colours[group] = colour = min(preferred[group], key=n_taken[group].__getitem__)
        for other in neighbours[group]:
            n_taken[other][colour] += 1
            if colour in choices[other]:
                free = (c for c in preferred[other] if not n_taken[other][c])
                choices[other] = list(islice(free, 2))
                heappush(queue, queued(other))
    return colours


def repair(
    colours: list[int], scores: Scores, neighbours: Neighbours, sizes: Sequence[int] | None = None
) -> list[int]:
    """Reduce the clashes by tabu search [1]_; return the best colours found.

    Each move is the best one of a clashing group, even if it makes things
    worse, but for some moves not back to a colour that was left. A clash counts
    as many times as the smaller of the two groups has images: where some cannot
    be avoided, three images with a wrong colour are better than two large
    groups that share one.

    References
    ----------
    .. [1] A. Hertz, D. de Werra, Using tabu search techniques for graph coloring,
       Computing 39, 1987.
    """
    search = _TabuSearch(colours, scores, neighbours, sizes or [1] * len(colours))
    best, fewest, n_moves, n_idle = colours, search.n_clashes, 0, 0
    while fewest and n_moves < MAX_MOVES and n_idle < MAX_IDLE:
        n_moves += len(search.clashing) * len(scores[0])
        move = min(search.moves(fewest), default=None)
        if move is None:
            break
        search.make(move)
        n_idle += 1
        if search.n_clashes < fewest:
            best, fewest, n_idle = search.colours.copy(), search.n_clashes, 0
    return best


class _TabuSearch:
    """Colours with their clashes, and the moves that are tabu at the moment."""

    def __init__(
        self, colours: list[int], scores: Scores, neighbours: Neighbours, sizes: Sequence[int]
    ) -> None:
        self._scores, self._neighbours, self._sizes = scores, neighbours, sizes
        self.colours = colours.copy()
        self._n_taken = [[0] * len(row) for row in scores]  # by neighbours, weighted by size
        for group, others in enumerate(neighbours):
            for other in others:
                self._n_taken[group][colours[other]] += min(sizes[group], sizes[other])
        at_groups = [row[colour] for row, colour in zip(self._n_taken, colours, strict=True)]
        self.n_clashes = sum(at_groups) // 2
        self.clashing = {group for group, n_clashes in enumerate(at_groups) if n_clashes}
        self._n_made = 0
        self._tabu: dict[tuple[int, int], int] = {}  # group and colour -> until which move

    def moves(self, fewest: int) -> Iterator[Move]:
        """Yield the moves of clashing groups; tabu ones only if they lead below `fewest`."""
        for group in self.clashing:
            row, taken, own = self._scores[group], self._n_taken[group], self.colours[group]
            for colour in range(len(row)):
                added = taken[colour] - taken[own]
                is_tabu = self._tabu.get((group, colour), -1) >= self._n_made
                if colour != own and (not is_tabu or self.n_clashes + added < fewest):
                    yield added, row[own] - row[colour], group, colour

    def make(self, move: Move) -> None:
        """Change the colour of one group."""
        added, _, group, colour = move
        left, self.colours[group] = self.colours[group], colour
        self.n_clashes += added
        self._n_made += 1
        # the tenure grows with the clashes and varies, so that the search does not cycle
        self._tabu[group, left] = self._n_made + 7 + len(self.clashing) // 2 + self._n_made % 5
        for other in self._neighbours[group]:
            weight = min(self._sizes[group], self._sizes[other])
            self._n_taken[other][left] -= weight
            self._n_taken[other][colour] += weight
        for touched in (group, *self._neighbours[group]):
            if self._n_taken[touched][self.colours[touched]]:
                self.clashing.add(touched)
            else:
                self.clashing.discard(touched)


def swap_for_gain(colours: list[int], scores: Scores, neighbours: Neighbours) -> list[int]:
    """Swap two colours along Kempe chains while the sum of scores grows.

    To swap two colours in all groups of these colours that are connected makes
    no new clash. A chain may be a single group.
    """
    swapped, n_steps = colours.copy(), 0
    for _ in range(MAX_SWEEPS):
        before = swapped.copy()
        for group, row in enumerate(scores):
            better = [colour for colour in range(len(row)) if row[colour] > row[swapped[group]]]
            for colour in sorted(better, key=row.__getitem__, reverse=True):
                chain = _kempe_chain(swapped, group, colour, neighbours)
                n_steps += sum(len(neighbours[member]) for member in chain)
                if _swap_if_better(swapped, chain, colour, scores):
                    break
            if n_steps > MAX_SWAP_STEPS:
                return swapped
        if swapped == before:
            break
    return swapped


def _kempe_chain(colours: list[int], start: int, wanted: int, neighbours: Neighbours) -> list[int]:
    """Return the groups connected to `start` by groups of its colour and `wanted`."""
    two = (colours[start], wanted)
    chain, seen = [start], {start}
    for group in chain:  # grows during the loop
        new = [other for other in neighbours[group] if colours[other] in two and other not in seen]
        seen.update(new)
        chain += new
    return chain


def _swap_if_better(colours: list[int], chain: list[int], wanted: int, scores: Scores) -> bool:
    """Swap the two colours of a chain if the sum of scores grows; return whether it did."""
    swapped = {colours[chain[0]]: wanted, wanted: colours[chain[0]]}
    gain = sum(scores[g][swapped[colours[g]]] - scores[g][colours[g]] for g in chain)
    if gain <= MIN_GAIN:
        return False
    for group in chain:
        colours[group] = swapped[colours[group]]
    return True
