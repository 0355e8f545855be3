"""A model's guesses on top of what is known: closed in the same way, and droppable."""

from collections.abc import Callable

from likewise.constraints.closure import Closure
from likewise.constraints.parity import ParityClosure

AnyClosure = Closure | ParityClosure


class PseudoLayer:
    """Guesses in the order they came; one that contradicts what is known so far is passed over.

    What is known comes first, whenever it was told: after a new answer the
    guesses are laid again on the new closure.

    Parameters
    ----------
    known : callable
        Returns what follows from the answers; it is only read.
    """

    def __init__(self, known: Callable[[], AnyClosure]) -> None:
        self._known = known
        self._guesses: dict[tuple[int, int], int] = {}
        self._closure: AnyClosure | None = None

    def add(self, first: int, second: int, relation: int) -> None:
        """Add one guess in place of an earlier one about the pair; ``UNKNOWN`` is none."""
        pair = (min(first, second), max(first, second))
        if self._guesses.pop(pair, None) is not None:
            self._closure = None
        if relation:
            self._guesses[pair] = relation
            if self._closure is not None:
                _lay(self._closure, *pair, relation)

    def guesses(self) -> dict[tuple[int, int], int]:
        """Return all guesses, in the order they came."""
        return dict(self._guesses)

    def clear(self) -> None:
        """Drop all guesses."""
        self._guesses.clear()
        self._closure = None

    def outdate(self) -> None:
        """Note that the answers have changed."""
        self._closure = None

    def closure(self) -> AnyClosure:
        """Return the answers and the guesses together."""
        if not self._guesses:
            return self._known()
        if self._closure is None:
            self._closure = self._known().copy()
            for (first, second), relation in self._guesses.items():
                _lay(self._closure, first, second, relation)
        return self._closure


def _lay(closure: AnyClosure, first: int, second: int, relation: int) -> None:
    """Put one guess on a closure, unless something is known of the pair."""
    if not closure.relation(first, second):
        closure.link(first, second, relation)
