"""The answers in their order: which stand, which are set aside, and what a retraction changes."""

from heapq import heappop, heappush

from likewise.constraints.asides import Asides
from likewise.constraints.closure import Closure
from likewise.constraints.facts import Said, Told, said
from likewise.constraints.parity import ParityClosure
from likewise.constraints.question import BAD_IMAGE, Answer
from likewise.constraints.standing import Standing
from likewise.errors import InvalidParameterError

MANY = 20  # answers to hear again; beyond that it is faster to tell all of them again


class Log:
    """Answers by id; whatever was told or taken back, the state is that of a replay.

    Parameters
    ----------
    n_images : int
    two_groups : bool
    """

    def __init__(self, n_images: int, *, two_groups: bool) -> None:
        self._n_images, self._two_groups = n_images, two_groups
        self.answers: dict[int, Answer] = {}
        self.bad: dict[int, Answer] = {}  # those that call an image bad
        self.asides = Asides()
        self.standing = Standing(n_images, two_groups=two_groups)
        self._next_id = 0

    def closure(self) -> Closure | ParityClosure:
        """Return what follows from the answers that stand; ask again after a retraction."""
        return self.standing.closure

    def tell(self, answer: Answer, answer_id: int | None) -> Told:
        """Take in one answer under an id of the caller's or the next one, or set it aside."""
        facts = said(answer, self._n_images)
        answer_id = self._next_id if answer_id is None else answer_id
        if answer_id < self._next_id:
            raise InvalidParameterError(
                f"answer_id={answer_id} is not new; ids grow, give {self._next_id} or more."
            )
        self._next_id = answer_id + 1
        self.answers[answer_id] = answer
        if answer.answer == BAD_IMAGE:
            self.bad[answer_id] = answer
        n_settled, proof = self.standing.take_in(answer_id, facts)
        if proof:
            self.asides.put(answer_id, proof)
        return Told(answer_id, not proof, proof, n_settled)

    def retract(self, answer_id: int) -> None:
        """Take one answer back."""
        if answer_id not in self.answers:
            raise InvalidParameterError(
                f"Answer {answer_id} is not among the {len(self.answers)} answers kept; it may "
                "have been taken back already. See `answers` for their ids."
            )
        facts = self._facts(answer_id)
        del self.answers[answer_id]
        self.bad.pop(answer_id, None)
        if answer_id in self.asides:
            self.asides.drop(answer_id)
            return
        self.standing.withdraw(answer_id, facts)
        waiting = self.asides.relying_on(answer_id)
        n_heard = 0
        while waiting:
            if n_heard + len(waiting) > MANY:
                self._replay()
                return
            n_heard += 1
            for disturbed in self._hear_again(heappop(waiting)):
                heappush(waiting, disturbed)

    def _hear_again(self, aside: int) -> list[int]:
        """Decide anew on an answer set aside; return those to decide on after it.

        All before it in the log is decided. If that does not contradict it, it
        comes in, and what stands after it and contradicts it steps back, to be
        heard again in its turn together with those set aside because of it.
        """
        if aside not in self.asides:
            return []
        facts = self._facts(aside)
        _, proof = self.standing.take_in(aside, facts)
        if proof and (objection := self.standing.objection(aside, facts)):
            self.asides.put(aside, objection)
            return []
        disturbed: list[int] = []
        while proof and len(disturbed) <= MANY:  # else all are told again
            latest = max(fact.answer_id for fact in proof)
            disturbed += [latest, *self.asides.relying_on(latest)]
            self.standing.withdraw(latest, self._facts(latest))
            self.asides.put(latest, ())
            _, proof = self.standing.take_in(aside, facts)
        self.asides.drop(aside)
        return disturbed

    def _replay(self) -> None:
        """Decide anew on all answers in their order."""
        proofs, self.asides = self.asides.proofs(), Asides()
        self.standing = Standing(self._n_images, two_groups=self._two_groups)
        for answer_id in self.answers:
            proof = proofs.get(answer_id, ())
            if not proof or not all(self._stands(fact.answer_id) for fact in proof):
                _, proof = self.standing.take_in(answer_id, self._facts(answer_id))
            if proof:
                self.asides.put(answer_id, proof)

    def _stands(self, answer_id: int) -> bool:
        """Return whether an answer is kept and not set aside."""
        return answer_id in self.answers and answer_id not in self.asides

    def _facts(self, answer_id: int) -> list[Said]:
        """Return what an answer says."""
        return said(self.answers[answer_id], self._n_images)
