"""The constraints that an answer gives, and the result of adding an answer."""

from dataclasses import dataclass

from likewise.constraints.question import Relation


@dataclass(frozen=True, slots=True)
class Constraint:
    """A must-link or cannot-link given by an answer; a choice gives several.

    Parameters
    ----------
    answer_id : int
    first : int
        An image.
    second : int or str
        Another image, or the name of the group that `first` was assigned to.
    relation : Relation

    Examples
    --------
    >>> str(Constraint(0, 3, 9, Relation.SAME)), str(Constraint(1, 3, "winter", Relation.SAME))
    ('3 = 9', "3 = 'winter'")
    """

    answer_id: int
    first: int
    second: int | str
    relation: Relation

    def __str__(self) -> str:
        return f"{self.first} {self.relation.symbol} {self.second!r}"


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """The result of adding an answer to the graph.

    Parameters
    ----------
    id : int
        The id with which the answer can be retracted.
    accepted : bool
        False if the answer is a conflict: it contradicts earlier answers.
    proof : tuple of Constraint
        Empty if accepted; otherwise the shortest chain of earlier constraints
        that implies the opposite.
    n_settled : int
        Number of pairs of images whose relation was unknown before and is known
        now, including the pairs in the answer itself.
    """

    id: int
    accepted: bool
    proof: tuple[Constraint, ...] = ()
    n_settled: int = 0
