"""The constraint graph: given answers, implied answers, and conflicts."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from likewise.constraints.facts import Fact, Told, checked_image, checked_images
from likewise.constraints.log import Log
from likewise.constraints.pseudo import PseudoLayer
from likewise.constraints.question import CANNOT_TELL, Answer, Question
from likewise.constraints.question import DIFFERENT as DIFFERENT_WORD
from likewise.constraints.question import SAME as SAME_WORD
from likewise.constraints.relation import Indexes, Pairs, Relation, Relations
from likewise.errors import InvalidParameterError

WORDS = {
    Relation.SAME: SAME_WORD,
    Relation.DIFFERENT: DIFFERENT_WORD,
    Relation.UNKNOWN: CANNOT_TELL,
}


class ConstraintGraph:
    """What answers say of images ``0 .. n_images - 1``, and what follows.

    ``SAME`` is an equivalence, and ``DIFFERENT`` is inherited along it::

        i = j,  j = k   implies   i = k
        i = j,  j ≠ k   implies   i ≠ k
        i ≠ j,  j ≠ k   implies   i = k     with `two_groups` only

    Answers apply in the order they are told. One that contradicts what follows
    from those before it is kept and set aside with its proof; taking an answer
    back leaves the graph as if it had never been told, so answers set aside may
    come in (and, rarely, later ones that contradict these go aside).

    A choice stands or is set aside as a whole. A label puts an image into the
    group of that name, and groups with different names are different; with
    `two_groups` a third name in use is a contradiction.

    Parameters
    ----------
    n_images : int
        Size of the collection; indexes are positions in it.
    two_groups : bool
        Whether there are two groups only.

    Examples
    --------
    >>> graph = ConstraintGraph(20)
    >>> _ = graph.add(3, 9, Relation.SAME), graph.add(9, 17, Relation.SAME)
    >>> graph.relation(3, 17).name
    'SAME'
    >>> told = graph.add(3, 17, Relation.DIFFERENT)
    >>> told.taken, ", ".join(map(str, told.proof))
    (False, '3 = 9, 9 = 17')
    """

    def __init__(self, n_images: int, *, two_groups: bool = False) -> None:
        if n_images < 1:
            raise InvalidParameterError(
                f"n_images={n_images} leaves nothing to ask about; give at least one image."
            )
        self.n_images, self.two_groups = n_images, two_groups
        self._log = Log(n_images, two_groups=two_groups)
        self._pseudo = PseudoLayer(self._log.closure)  # not a method of ours: no cycle

    @property
    def answers(self) -> Mapping[int, Answer]:
        """All answers by id in the order of the log, those set aside too."""
        return MappingProxyType(self._log.answers)

    @property
    def set_aside(self) -> Mapping[int, tuple[Fact, ...]]:
        """The answers that contradict earlier ones, each with its proof."""
        return MappingProxyType(self._log.asides.proofs())

    @property
    def n_answers(self) -> int:
        """How many answers stand, "can't tell" and "bad image" among them."""
        return len(self._log.answers) - len(self._log.asides)

    @property
    def bad_images(self) -> set[int]:
        """The images that were called bad.

        Of a pair nobody said which one is: both count as bad, but for an image
        of which a standing answer says something; that one could be judged.
        """
        spoken_of, bad = self._log.standing.given.edges, set[int]()
        for answer in self._log.bad.values():
            if answer.question.kind == "pair":
                bad.update(image for image in answer.question.images if image not in spoken_of)
            else:
                bad.add(answer.question.images[0])
        return bad

    def tell(self, answer: Answer, *, answer_id: int | None = None) -> Told:
        """Take in one answer, or set it aside if it contradicts those before it.

        Parameters
        ----------
        answer : Answer
        answer_id : int, optional
            An id of the caller's own, larger than all before; else the next one.

        Raises
        ------
        InvalidParameterError
            If an image is not in the collection or is paired with itself, or
            the id is not new; then nothing has changed.
        """
        told = self._log.tell(answer, answer_id)
        if told.taken:
            self._pseudo.outdate()
        return told

    def add(self, i: int, j: int, relation: Relation) -> Told:
        """Tell one relation of two images; ``UNKNOWN`` is "can't tell"."""
        word = WORDS[_checked_relation(relation)]
        return self.tell(Answer(Question.pair(i, j), word))

    def label(self, i: int, name: str) -> Told:
        """Tell the name of the group that an image belongs to."""
        return self.tell(Answer(Question.label(i), name))

    def retract(self, answer_id: int) -> None:
        """Take an answer back, as if it had never been told.

        Raises
        ------
        InvalidParameterError
            If no such answer is kept.
        """
        self._log.retract(answer_id)
        self._pseudo.outdate()

    def relation(self, i: int, j: int) -> Relation:
        """Return what the answers so far say of images `i` and `j`."""
        i, j = checked_image(i, self.n_images), checked_image(j, self.n_images)
        return Relation(self._log.closure().relation(i, j))

    def relations(self, indexes: Sequence[int] | Indexes, *, pseudo: bool = False) -> Relations:
        """Return the relations of a batch of images, (b, b) with zero diagonal."""
        checked = self._checked(indexes)
        closure = self._pseudo.closure() if pseudo else self._log.closure()
        relations = closure.matrix(checked)
        np.fill_diagonal(relations, 0)
        return relations

    def pair_relations(
        self, pairs: Pairs | Sequence[tuple[int, int]], *, pseudo: bool = False
    ) -> Relations:
        """Return the relation of each pair (m, 2), as (m,)."""
        checked = self._checked(pairs)
        if checked.size and (checked.ndim != 2 or checked.shape[1] != 2):
            raise InvalidParameterError(
                f"pairs of shape {checked.shape} are no pairs; give two images a row, (m, 2)."
            )
        checked = checked.reshape(-1, 2)
        closure = self._pseudo.closure() if pseudo else self._log.closure()
        return closure.pairs(checked)

    def proof(self, i: int, j: int) -> tuple[Fact, ...]:
        """Return the shortest chain of given facts behind `relation(i, j)`; empty if unknown."""
        i, j = checked_image(i, self.n_images), checked_image(j, self.n_images)
        return self._log.standing.proof(i, j)

    def groups(self) -> Indexes:
        """Return the group of each image (n,): the first image tied to it by answers."""
        return self._log.closure().groups()

    def apart(self) -> Pairs:
        """Return the pairs of groups known to be different, (m, 2) in the words of `groups`."""
        return self._log.closure().apart()

    def group_names(self) -> dict[int, str]:
        """Return the name of each group that has one."""
        seats = self._log.standing.names.seats
        firsts = self._log.closure().first_images(list(seats.values()))
        return dict(sorted(zip(firsts, seats, strict=True)))

    def add_pseudo(self, i: int, j: int, relation: Relation) -> None:
        """Lay a model's guess on top; where it contradicts what is known it has no effect."""
        first, second = checked_images((i, j), self.n_images)
        self._pseudo.add(first, second, _checked_relation(relation))

    def pseudo(self) -> dict[tuple[int, int], int]:
        """Return all guesses, in the order they came."""
        return self._pseudo.guesses()

    def clear_pseudo(self) -> None:
        """Drop all guesses."""
        self._pseudo.clear()

    def _checked(self, indexes: npt.ArrayLike) -> Indexes:
        """Return positions as an array, or raise by name."""
        array = np.asarray(indexes)
        if array.size and array.dtype.kind not in "iu":
            raise InvalidParameterError(
                f"Indexes of type {array.dtype} are not positions in the collection; give integers."
            )
        outside = array[(array < 0) | (array >= self.n_images)]
        if outside.size:
            checked_image(int(outside[0]), self.n_images)
        return array.astype(np.intp, copy=False)


def _checked_relation(relation: int) -> Relation:
    """Return `relation` as one of the three, or raise in words."""
    try:
        return Relation(relation)
    except ValueError:
        raise InvalidParameterError(
            f"relation={relation!r} is none; use SAME (1), DIFFERENT (-1) or UNKNOWN (0)."
        ) from None
