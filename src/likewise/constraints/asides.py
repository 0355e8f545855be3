"""Answers set aside, each with the proof against it, and who must be heard again if one goes."""

from collections import defaultdict

from likewise.constraints.facts import Fact


class Asides:
    """Proofs by answer, and the other way round."""

    def __init__(self) -> None:
        self._proofs: dict[int, tuple[Fact, ...]] = {}
        self._in_order: dict[int, tuple[Fact, ...]] | None = {}  # None: to be sorted when asked for
        self._relying: defaultdict[int, set[int]] = defaultdict(set)  # answer -> asides due to it

    def __len__(self) -> int:
        return len(self._proofs)

    def __contains__(self, answer_id: int) -> bool:
        return answer_id in self._proofs

    def proofs(self) -> dict[int, tuple[Fact, ...]]:
        """Return the proof against each answer, in the order of the log; not to be changed."""
        if self._in_order is None:
            self._in_order = dict(sorted(self._proofs.items()))
        return self._in_order

    def put(self, answer_id: int, proof: tuple[Fact, ...]) -> None:
        """Set an answer aside, or note a new proof against it."""
        self.drop(answer_id)
        self._proofs[answer_id] = proof
        for fact in proof:
            self._relying[fact.answer_id].add(answer_id)

    def drop(self, answer_id: int) -> None:
        """Forget that an answer is set aside, if it is."""
        self._in_order = None
        for fact in self._proofs.pop(answer_id, ()):
            relying = self._relying[fact.answer_id]
            relying.discard(answer_id)
            if not relying:
                del self._relying[fact.answer_id]

    def relying_on(self, answer_id: int) -> list[int]:
        """Return the answers whose proof uses an answer."""
        return sorted(self._relying.get(answer_id, ()))
