"""Pseudo-links: relations predicted by a model, separate from the answers and droppable."""

from likewise.constraints.closure import Closure


class PseudoLinks:
    """Predicted relations in the order they were added.

    The closure of the answers has precedence, whenever an answer was added: a
    pseudo-link that contradicts it, or an earlier pseudo-link, has no effect.
    """

    def __init__(self) -> None:
        self._links: dict[tuple[int, int], int] = {}
        self._closure: Closure | None = None  # of the answers and the pseudo-links

    def add(self, first: int, second: int, relation: int) -> None:
        """Add a pseudo-link in place of an earlier one of this pair; ``UNKNOWN`` removes it."""
        pair = (min(first, second), max(first, second))
        if self._links.pop(pair, None) is not None:
            self._closure = None
        if relation:
            self._links[pair] = relation
            if self._closure is not None:
                _link_if_unknown(self._closure, *pair, relation)

    def links(self) -> dict[tuple[int, int], int]:
        """Return all pseudo-links in the order they were added."""
        return dict(self._links)

    def clear(self) -> None:
        """Remove all pseudo-links."""
        self._links.clear()
        self._closure = None

    def invalidate(self) -> None:
        """Drop the cached closure; call this after the answers have changed."""
        self._closure = None

    def closure(self, answers: Closure) -> Closure:
        """Return the closure of the answers and the pseudo-links; `answers` is not changed."""
        if not self._links:
            return answers
        if self._closure is None:
            self._closure = answers.copy()
            for (first, second), relation in self._links.items():
                _link_if_unknown(self._closure, first, second, relation)
        return self._closure


def _link_if_unknown(closure: Closure, first: int, second: int, relation: int) -> None:
    """Add a relation to the closure unless the relation of the pair is known."""
    if not closure.relation(first, second):
        closure.link(first, second, relation)
