"""The constraint graph: all answers on one criterion, what follows, conflicts, open questions."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from likewise.constraints.active import ActiveConstraints, Proof
from likewise.constraints.answers import Answers
from likewise.constraints.bulk_replay import replay_answers
from likewise.constraints.closure import Closure, PseudoLinks
from likewise.constraints.constraint import (
    AnswerResult,
    checked_image,
    checked_images,
    given_relations,
)
from likewise.constraints.question import (
    BAD_IMAGE,
    CANNOT_TELL,
    DIFFERENT,
    SAME,
    Answer,
    Question,
    Relation,
    Relations,
)
from likewise.errors import InvalidParameterError
from likewise.types import Indexes, Pairs

_ANSWERS = {
    Relation.SAME: SAME,
    Relation.DIFFERENT: DIFFERENT,
    Relation.UNKNOWN: CANNOT_TELL,
}


class ConstraintGraph:
    """Answers about the images ``0 .. n_images - 1``, and the constraints they imply.

    ``SAME`` is an equivalence relation, and ``DIFFERENT`` is inherited along it::

        i = j,  j = k   implies   i = k
        i = j,  j ≠ k   implies   i ≠ k
        i ≠ j,  j ≠ k   implies   i = k     with `two_groups` only

    Answers apply in the order they are added. One that contradicts the closure
    of the active answers before it is kept as a conflict, with its proof.
    Retracting an answer replays the others, so conflicts may become active
    (and, rarely, later answers that contradict these become conflicts).

    A choice is active or a conflict as a whole. Of a grid that contradicts the
    others, only the images whose constraint contradicts them are left out: it is
    in `conflicts`, and in `active_answers` without these images. A label assigns an image to the
    group of that name, and groups with different names are different; with
    `two_groups` a third name in use is a conflict.

    Parameters
    ----------
    n_images : int
        Size of the collection; images are indexes into it.
    two_groups : bool
        Whether there are only two groups.
    answers : Answers, optional
        Answers to begin with, as if told one after the other; their images must be valid.

    Examples
    --------
    >>> graph = ConstraintGraph(20)
    >>> _ = graph.add(3, 9, Relation.SAME), graph.add(9, 17, Relation.SAME)
    >>> graph.relation(3, 17).name
    'SAME'
    >>> result = graph.add(3, 17, Relation.DIFFERENT)
    >>> result.accepted, ", ".join(map(str, result.proof))
    (False, '3 = 9, 9 = 17')
    """

    def __init__(
        self, n_images: int, *, two_groups: bool = False, answers: Answers | None = None
    ) -> None:
        if n_images < 1:
            raise InvalidParameterError(f"n_images must be an integer >= 1, got {n_images}.")
        self.n_images = n_images
        self.two_groups = two_groups
        self._answers = Answers() if answers is None else answers
        self._bad = self._answers.given(BAD_IMAGE)
        self._next_id = next(reversed(self._answers), -1) + 1
        self._active: ActiveConstraints | None = None  # None: to be replayed
        self._known_proofs: dict[int, Proof] = {}  # of the conflicts before the last retraction
        self._pseudo = PseudoLinks()
        self._version = 0  # changes whenever the closure of the answers changes

    @property
    def answers(self) -> Mapping[int, Answer]:
        """All answers by id in the order of the log, including conflicts."""
        return self._answers

    @property
    def conflicts(self) -> Mapping[int, Proof]:
        """The answers that contradict earlier ones, each with its proof."""
        return self._current().conflicts

    @property
    def excluded(self) -> Mapping[int, tuple[int, ...]]:
        """Of each grid among the conflicts, the images whose constraint is left out."""
        return MappingProxyType(self._current().excluded)

    @property
    def active_answers(self) -> dict[int, Answer]:
        """The active answers: without conflicts, and grids without excluded images."""
        active = self._current()
        found = {n: a for n, a in self._answers.items() if n not in active.conflicts}
        for number, images in active.excluded.items():
            answer = self._answers[number]
            if len(images) < len(answer.question.asked):
                found[number] = answer.without_images(images)
        return dict(sorted(found.items())) if active.excluded else found

    @property
    def n_answers(self) -> int:
        """Number of active answers, including "cannot tell" and "bad image"."""
        active = self._current()
        n_grids = sum(
            len(images) < len(self._answers[number].question.asked)
            for number, images in active.excluded.items()
        )
        return len(self._answers) - len(active.conflicts) + n_grids

    @property
    def bad_images(self) -> set[int]:
        """The images that were marked as bad.

        The answer "bad image" to a pair does not say which one is: both count
        as bad, except an image that has an active constraint. Of a grid the
        ticked images are bad.
        """
        edges, bad = self._current().edges, set[int]()
        for answer in self._bad.values():
            if answer.question.kind == "pair":
                bad.update(image for image in answer.question.images if not edges[image])
            elif answer.question.kind == "grid":
                bad.update(answer.ticked)
            else:
                bad.add(answer.question.images[0])
        return bad

    def tell(self, answer: Answer, *, answer_id: int | None = None) -> AnswerResult:
        """Add one answer; it becomes a conflict if it contradicts those before it.

        Parameters
        ----------
        answer : Answer
        answer_id : int, optional
            An id larger than all before; by default the next one.

        Raises
        ------
        InvalidParameterError
            If an image is not in the collection or is paired with itself, or
            the id is not larger than all before; then nothing has changed.
        """
        active = self._current()
        relations = given_relations(answer, self.n_images)
        answer_id = self._next_id if answer_id is None else answer_id
        if answer_id < self._next_id:
            raise InvalidParameterError(
                f"answer_id must be larger than all before (>= {self._next_id}), got {answer_id}."
            )
        self._next_id = answer_id + 1
        self._answers[answer_id] = answer
        if answer.answer == BAD_IMAGE:
            self._bad[answer_id] = answer
        is_grid = answer.question.kind == "grid"
        add = active.add_grid if is_grid else active.add
        n_settled, proof = add(answer_id, relations)
        self._version += 1
        excluded = active.excluded.get(answer_id, ())
        return AnswerResult(answer_id, not proof, proof, n_settled, excluded)

    def add(self, i: int, j: int, relation: Relation) -> AnswerResult:
        """Add the relation of two images as an answer; ``UNKNOWN`` is "cannot tell"."""
        return self.tell(Answer(Question.pair(i, j), _ANSWERS[_checked_relation(relation)]))

    def label(self, i: int, name: str) -> AnswerResult:
        """Add the name of the group of an image as an answer."""
        return self.tell(Answer(Question.label(i), name))

    def retract(self, answer_id: int) -> None:
        """Remove an answer; the state is then that of a replay of all others.

        The replay happens when the state is next needed, so several retractions
        in a row cost one replay.

        Raises
        ------
        InvalidParameterError
            If there is no such answer.
        """
        if answer_id not in self._answers:
            raise InvalidParameterError(
                f"answer_id must be one of the {len(self._answers)} answers in the log, got "
                f"{answer_id}; it may have been retracted before. See `answers` for the ids."
            )
        answer = self._answers.pop(answer_id)
        self._bad.pop(answer_id, None)
        if self._active is None:
            return
        excluded = self._active.excluded.get(answer_id, answer.question.asked)
        if answer_id in self._active.conflicts and len(excluded) == len(answer.question.asked):
            del self._active.conflicts[answer_id]  # nothing of it was active
            self._active.excluded.pop(answer_id, None)
        elif answer.answer not in (CANNOT_TELL, BAD_IMAGE):  # it had active constraints
            self._known_proofs, self._active = self._active.conflicts.made(), None
            self._version += 1

    def relation(self, i: int, j: int) -> Relation:
        """Return the relation of images `i` and `j` that follows from the answers."""
        i, j = checked_image(i, self.n_images), checked_image(j, self.n_images)
        return Relation(self._current().closure.relation(i, j))

    def relations(self, indexes: Sequence[int] | Indexes, *, pseudo: bool = False) -> Relations:
        """Return the relations of a batch of images, (b, b) with zero diagonal.

        Parameters
        ----------
        indexes : sequence of int
        pseudo : bool
            Whether to include the pseudo-links.
        """
        checked = self._checked(indexes)
        relations = self._closure(pseudo=pseudo).matrix(checked)
        np.fill_diagonal(relations, 0)
        return relations

    def pair_relations(
        self, pairs: Pairs | Sequence[tuple[int, int]], *, pseudo: bool = False
    ) -> Relations:
        """Return the relation of each pair (m, 2), as (m,)."""
        checked = self._checked(pairs)
        if checked.size and (checked.ndim != 2 or checked.shape[1] != 2):
            raise InvalidParameterError(f"pairs must have shape (m, 2), got {checked.shape}.")
        return self._closure(pseudo=pseudo).pairs(checked.reshape(-1, 2))

    def proof(self, i: int, j: int) -> Proof:
        """Return the shortest chain of constraints behind `relation(i, j)`; empty if unknown."""
        i, j = checked_image(i, self.n_images), checked_image(j, self.n_images)
        return self._current().proof(i, j)

    def groups(self) -> Indexes:
        """Return the first image that must-links connect each image to, (n,)."""
        return self._current().closure.groups()

    def cannot_links(self) -> Pairs:
        """Return the pairs of groups that differ, (m, 2), each group as in `groups`."""
        return self._current().closure.cannot_links()

    def group_names(self) -> dict[int, str]:
        """Return the name of each group that has one, the group as in `groups`."""
        names, groups = self._current().names, self.groups()
        return dict(sorted((int(groups[use.image]), name) for name, use in names.items()))

    def add_pseudo(self, i: int, j: int, relation: Relation) -> None:
        """Add a pseudo-link; it has no effect where it contradicts the answers."""
        first, second = checked_images((i, j), self.n_images)
        self._pseudo.add(first, second, _checked_relation(relation))

    def pseudo(self) -> dict[tuple[int, int], int]:
        """Return all pseudo-links in the order they were added."""
        return self._pseudo.links()

    def clear_pseudo(self) -> None:
        """Remove all pseudo-links."""
        self._pseudo.clear()

    def _closure(self, *, pseudo: bool) -> Closure:
        """Return the closure of the answers, with or without the pseudo-links."""
        closure = self._current().closure
        return self._pseudo.closure(closure, self._version) if pseudo else closure

    def _current(self) -> ActiveConstraints:
        """Return the active constraints; replay the log if answers were retracted."""
        if self._active is None:
            self._active = replay_answers(
                self._answers, self.n_images, two_groups=self.two_groups, known=self._known_proofs
            )
        return self._active

    def _checked(self, indexes: npt.ArrayLike) -> Indexes:
        """Return image indexes as an array; raise if one is not valid."""
        array = np.asarray(indexes)
        if array.size and array.dtype.kind not in "iu":
            raise InvalidParameterError(f"Image indexes must be integers, got {array.dtype}.")
        outside = array[(array < 0) | (array >= self.n_images)]
        if outside.size:
            checked_image(int(outside[0]), self.n_images)
        return array.astype(np.intp, copy=False)


def _checked_relation(relation: int) -> Relation:
    """Return `relation` as a `Relation`; raise if it is not one."""
    try:
        return Relation(relation)
    except ValueError:
        raise InvalidParameterError(
            f"relation must be SAME (1), DIFFERENT (-1) or UNKNOWN (0), got {relation!r}."
        ) from None


def asked_about(graph: ConstraintGraph) -> set[tuple[int, ...]]:
    """Return what all answers are about, including "cannot tell"; see `Question.asked`."""
    return {answer.question.asked for answer in graph.answers.values()}


def open_part(
    question: Question, graph: ConstraintGraph, asked: Collection[tuple[int, ...]], bad: set[int]
) -> Question | None:
    """Return the current form of a question, None if its answer is known or it was asked.

    Groups that the image is known not to belong to are removed; a choice of one group becomes
    a pair. So does a grid of one image, without those whose relation to the group is known.
    """
    if question.kind == "grid":
        return _open_grid(question, graph, asked, bad)
    if question.asked in asked or bad.intersection(question.images[:2]):
        return None
    return question if question.kind == "label" else _open_choice(question, graph, asked)


def _open_choice(
    question: Question, graph: ConstraintGraph, asked: Collection[tuple[int, ...]]
) -> Question | None:
    """Return the current form of a choice or of a pair."""
    image, *others = question.images
    relations = [graph.relation(image, other) for other in others]
    left = [place for place, known in enumerate(relations) if known is Relation.UNKNOWN]
    if Relation.SAME in relations or not left:
        return None
    if question.kind == "pair":
        return question
    if len(left) == 1:
        pair = Question.pair(image, others[left[0]])
        return None if pair.images in asked else pair
    shown, keys = zip(*((others[place], question.groups[place]) for place in left), strict=True)
    return Question.choice(image, shown, keys)


def _open_grid(
    question: Question, graph: ConstraintGraph, asked: Collection[tuple[int, ...]], bad: set[int]
) -> Question | None:
    *images, shown = question.images
    left = [i for i in images if i not in bad and graph.relation(i, shown) is Relation.UNKNOWN]
    if shown in bad or not left:
        return None
    grid = len(left) > 1
    current = question.with_images([*left, shown]) if grid else Question.pair(left[0], shown)
    return None if current.asked in asked else current
