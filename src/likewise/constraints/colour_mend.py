"""Fewer clashes, move by move: tabu search for colourings [HdW]_.

.. [HdW] A. Hertz, D. de Werra, Using tabu search techniques for graph coloring,
   Computing 39, 1987.
"""

from collections.abc import Iterator, Sequence

from likewise.constraints.colour_search import Neighbours, Scores

MAX_LOOKS = 1_000_000  # moves looked at: about a quarter of a second
MAX_IDLE = 1_000  # moves without fewer clashes than ever before
Move = tuple[int, float, int, int]  # clashes more, score less, the group, its new colour


def mend(
    colours: list[int],
    scores: Scores,
    neighbours: Neighbours,
    sizes: Sequence[int] | None = None,
) -> list[int]:
    """Recolour groups that clash until none does or it takes too long; return the best found.

    Each move is the best that a clashing group has, even if it makes things
    worse, but for a while not back to a colour that was left. Nothing is drawn
    at random: the same input gives the same colours. A clash counts as often as
    the smaller of the two groups has images: where some cannot be avoided, three
    images in the wrong place are better than two large groups thrown together.
    """
    state = _Mending(colours, scores, neighbours, sizes or [1] * len(colours))
    best, least, n_looks, n_idle = colours, state.n_clashes, 0, 0
    while least and n_looks < MAX_LOOKS and n_idle < MAX_IDLE:
        n_looks += len(state.clashing) * len(scores[0])
        move = min(state.moves(least), default=None)
        if move is None:
            break
        state.make(move)
        n_idle += 1
        if state.n_clashes < least:
            best, least, n_idle = state.colours.copy(), state.n_clashes, 0
    return best


class _Mending:
    """Colours with their clashes, and which moves are banned for the moment."""

    def __init__(
        self, colours: list[int], scores: Scores, neighbours: Neighbours, sizes: Sequence[int]
    ) -> None:
        self._scores, self._neighbours, self._sizes = scores, neighbours, sizes
        self.colours = colours.copy()
        self._n_taken = [[0] * len(row) for row in scores]  # by neighbours, as often as they count
        for group, others in enumerate(neighbours):
            for other in others:
                self._n_taken[group][colours[other]] += min(sizes[group], sizes[other])
        at_groups = [row[colour] for row, colour in zip(self._n_taken, colours, strict=True)]
        self.n_clashes = sum(at_groups) // 2
        self.clashing = {group for group, n_clashes in enumerate(at_groups) if n_clashes}
        self._n_made = 0
        self._banned: dict[tuple[int, int], int] = {}  # group and colour -> until which move

    def moves(self, least: int) -> Iterator[Move]:
        """Yield the moves of clashing groups, banned ones only if fewer than `least` clash then."""
        for group in self.clashing:
            row, taken, own = self._scores[group], self._n_taken[group], self.colours[group]
            for chosen in range(len(row)):
                more = taken[chosen] - taken[own]
                is_banned = self._banned.get((group, chosen), -1) >= self._n_made
                if chosen != own and (not is_banned or self.n_clashes + more < least):
                    yield more, row[own] - row[chosen], group, chosen

    def make(self, move: Move) -> None:
        """Recolour one group."""
        more, _, group, chosen = move
        left, self.colours[group] = self.colours[group], chosen
        self.n_clashes += more
        self._n_made += 1
        # longer with more clashes, and not always the same, so that it does not go in circles
        self._banned[group, left] = self._n_made + 7 + len(self.clashing) // 2 + self._n_made % 5
        for other in self._neighbours[group]:
            counts = min(self._sizes[group], self._sizes[other])
            self._n_taken[other][left] -= counts
            self._n_taken[other][chosen] += counts
        for touched in (group, *self._neighbours[group]):
            if self._n_taken[touched][self.colours[touched]]:
                self.clashing.add(touched)
            else:
                self.clashing.discard(touched)
