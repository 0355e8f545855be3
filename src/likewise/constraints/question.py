"""Data classes of questions (pair, choice, grid, label) and answers, and pairwise relations.

In memory an image is its index in the collection; on disk it is its content
hash (see ``serialization.py``).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, UnknownNameError

Kind = Literal["pair", "choice", "grid", "label"]
Relations = npt.NDArray[np.int8]  # values of `Relation`

KINDS: tuple[Kind, ...] = get_args(Kind)
SAME = "same"
DIFFERENT = "different"
CANNOT_TELL = "cannot_tell"
BAD_IMAGE = "bad_image"
NONE = "none"  # a choice: none of the groups shown
NEW = "new"  # a choice: a new group that is not among those shown
TICKED = "ticked"  # a grid: all images but the ticked ones belong to the group
RESERVED = frozenset({SAME, DIFFERENT, CANNOT_TELL, BAD_IMAGE, NONE, NEW})
MAX_GROUPS = 9
GRID_SIZE = 16  # images of a grid that a method asks for
MAX_GRID_SIZE = 100  # images of a grid that a person may answer at once, as in a review
_RELATIONS = {1: SAME, -1: DIFFERENT, 0: CANNOT_TELL}


class Relation(IntEnum):
    """The relation of two images: must-link (1), cannot-link (-1) or unknown (0)."""

    DIFFERENT = -1
    UNKNOWN = 0
    SAME = 1

    @property
    def symbol(self) -> str:
        """Return the relation as a mathematical symbol."""
        return {Relation.SAME: "=", Relation.DIFFERENT: "≠", Relation.UNKNOWN: "?"}[self]


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a person; create it with `pair`, `choice`, `grid`, `label` or `build`.

    Parameters
    ----------
    kind : {"pair", "choice", "grid", "label"}
    images : tuple of int
        The images asked about (of a pair both, sorted; of a grid several, else one), then one
        representative of each group shown.
    groups : tuple of str
        The keys of the groups shown, in the order of their representatives: those of a choice,
        the one of a grid. Empty otherwise.
    """

    kind: Kind
    images: tuple[int, ...]
    groups: tuple[str, ...] = ()

    @classmethod
    def pair(cls, first: int, second: int) -> Self:
        """Ask whether two images belong to the same group; the pair is stored sorted."""
        if first == second:
            raise InvalidParameterError(
                f"A pair must be two different images, got image {first} twice."
            )
        return cls("pair", (min(first, second), max(first, second)))

    @classmethod
    def choice(cls, image: int, representatives: tuple[int, ...], groups: tuple[str, ...]) -> Self:
        """Ask which of the groups shown an image belongs to; also a new group, or none."""
        if not 1 <= len(groups) <= MAX_GROUPS or len(groups) != len(representatives):
            raise InvalidParameterError(
                f"A choice must show 1 to {MAX_GROUPS} groups with one representative each, got "
                f"{len(groups)} groups and {len(representatives)} representatives."
            )
        if RESERVED.intersection(groups) or len(set(groups)) < len(groups):
            raise InvalidParameterError(
                f"The groups of a choice must have different keys, none of them in "
                f"{sorted(RESERVED)}, got {list(groups)}."
            )
        return cls("choice", (image, *representatives), groups)

    @classmethod
    def grid(cls, images: tuple[int, ...], representative: int, group: str) -> Self:
        """Ask which of several images do not belong to a group, shown by one of its images."""
        if not 1 <= len(images) <= MAX_GRID_SIZE:
            raise InvalidParameterError(
                f"A grid must have 1 to {MAX_GRID_SIZE} images, got {len(images)}."
            )
        if group in RESERVED:
            raise InvalidParameterError(
                f"The group of a grid must have a key that is not in {sorted(RESERVED)}, got "
                f"{group!r}."
            )
        return cls("grid", (*images, representative), (group,))

    @property
    def asked(self) -> tuple[int, ...]:
        """Return the images asked about, without the representatives of the groups shown.

        Examples
        --------
        >>> Question.grid((4, 5, 6), 9, "winter").asked
        (4, 5, 6)
        """
        return self.images[: len(self.images) - len(self.groups)]

    @property
    def representatives(self) -> tuple[int, ...]:
        """Return the representative of each group shown."""
        return self.images[len(self.images) - len(self.groups) :]

    def with_images(self, images: Iterable[int]) -> Self:
        """Return the same question about other images, in this order, except those of a pair."""
        given = tuple(images)
        return replace(self, images=tuple(sorted(given)) if self.kind == "pair" else given)

    @classmethod
    def label(cls, image: int) -> Self:
        """Ask for the name of the group an image belongs to."""
        return cls("label", (image,))

    @classmethod
    def build(cls, kind: str, images: tuple[int, ...], groups: tuple[str, ...] = ()) -> Self:
        """Return a question of any kind from its fields, checked.

        Raises
        ------
        InvalidParameterError
            If the kind is unknown or the images and groups do not fit it.
        """
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, KINDS)
        if kind == "grid":
            if len(groups) != 1 or len(images) < 2:
                raise InvalidParameterError(
                    "A grid question must have one group, and images that end with its "
                    f"representative, got {len(groups)} groups and {len(images)} images."
                )
            return cls.grid(images[:-1], images[-1], groups[0])
        n_images = {"pair": 2, "label": 1}.get(kind, 1 + len(groups))
        if len(images) != n_images:
            with_groups = f" with {len(groups)} groups" if kind == "choice" else ""
            raise InvalidParameterError(
                f"A {kind} question{with_groups} must have {n_images} images, got {len(images)}."
            )
        if kind == "choice":
            return cls.choice(images[0], images[1:], groups)
        return cls.pair(*images) if kind == "pair" else cls.label(*images)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, with who gave it, when, and how long it took.

    Parameters
    ----------
    question : Question
    answer : str
        ``"same"``, ``"different"``, ``"cannot_tell"``, ``"bad_image"``; for a
        choice also ``"none"``, ``"new"`` or the key of a group shown; for a
        grid ``"ticked"``; for a label the name of the group.
    who, criterion : str
    at : str
        ISO 8601, UTC; empty if unknown.
    seconds : float, optional
        Time from showing the question to the answer.
    ticked : tuple of int
        A grid: the images that do not belong to the group; with ``"bad_image"``, the bad ones.
    """

    question: Question
    answer: str
    who: str = ""
    criterion: str = ""
    at: str = ""
    seconds: float | None = None
    ticked: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if problem := _problem(self.question, self.answer) or _tick_problem(self):
            raise InvalidParameterError(problem)

    @property
    def placed(self) -> dict[int, str]:
        """Return the images that the answer places in a group, with the key or name of it.

        Examples
        --------
        >>> Answer(Question.grid((4, 5, 6), 9, "winter"), "ticked", ticked=(5,)).placed
        {4: 'winter', 6: 'winter'}
        """
        question = self.question
        if question.kind == "grid" and self.answer == TICKED:
            return {i: question.groups[0] for i in question.asked if i not in self.ticked}
        if question.kind == "label" and self.answer not in RESERVED:
            return {question.images[0]: self.answer}
        if question.kind == "choice" and self.answer in question.groups:
            return {question.images[0]: self.answer}
        return {}

    def as_pairs(self) -> "list[Answer]":
        """Return the answers to pairs that a grid consists of; any other answer unchanged."""
        if self.question.kind != "grid" or self.answer != TICKED:
            return [self]
        shown = self.question.images[-1]
        return [
            replace(
                self,
                question=Question.pair(image, shown),
                answer=DIFFERENT if image in self.ticked else SAME,
                ticked=(),
            )
            for image in self.question.asked
        ]

    def with_images(self, images: Sequence[int]) -> Self:
        """Return the answer about other images, one for each image of the question."""
        new = dict(zip(self.question.images, images, strict=True))
        question = self.question.with_images(images)
        return replace(self, question=question, ticked=tuple(new[i] for i in self.ticked))

    def at_positions(self, positions: Sequence[int]) -> Self | None:
        """Return the answer about the images at these positions, negative where there is none.

        A grid is then without these images; None if nothing is left, or for another question.
        """
        missing = [i for i, at in zip(self.question.images, positions, strict=True) if at < 0]
        if not missing:
            return self.with_images(positions)
        *asked, shown = self.question.images
        if self.question.kind != "grid" or shown in missing or len(missing) == len(asked):
            return None
        left = [position for position in positions if position >= 0]
        return self.without_images(missing).with_images(left)

    def without_images(self, images: Collection[int]) -> Self:
        """Return the answer to a grid without some of the images asked about."""
        *asked, shown = self.question.images
        question = replace(self.question, images=(*(i for i in asked if i not in images), shown))
        ticked = tuple(image for image in self.ticked if image not in images)
        return replace(self, question=question, ticked=ticked)


def _problem(question: Question, answer: str) -> str | None:
    """Return why `answer` is not valid for `question`, or None."""
    if answer in (CANNOT_TELL, BAD_IMAGE):
        return None
    if question.kind == "label":
        if answer and answer not in RESERVED:
            return None
        return (
            f"The answer to a label question must be a name that is not empty and not in "
            f"{sorted(RESERVED)}, got {answer!r}."
        )
    if question.kind == "pair":
        allowed: tuple[str, ...] = (SAME, DIFFERENT)
    elif question.kind == "grid":
        allowed = (TICKED,)
    else:
        allowed = (*question.groups, NONE, NEW)
    if answer in allowed:
        return None
    options = ", ".join((*allowed, CANNOT_TELL, BAD_IMAGE))
    return f"The answer to a {question.kind} question must be one of {options}; got {answer!r}."


def _tick_problem(answer: Answer) -> str | None:
    """Return why the ticked images are not valid, or None."""
    ticked = answer.ticked
    if not ticked:
        return None
    asked = answer.question.asked
    if answer.question.kind != "grid" or answer.answer not in (TICKED, BAD_IMAGE):
        return (
            f"Images can be ticked only in the answers {TICKED} and {BAD_IMAGE} to a grid, got "
            f"{len(ticked)} ticked images for {answer.answer!r} to a {answer.question.kind}."
        )
    unknown = [image for image in ticked if image not in asked]
    if unknown or len(set(ticked)) < len(ticked):
        return (
            "The ticked images must be different images of the grid, got "
            f"{unknown[0] if unknown else list(ticked)}."
        )
    return None


def to_answers(questions: Iterable[Any], answers: Sequence[Any]) -> list[Answer]:
    """Return `Answer` objects.

    Parameters
    ----------
    questions : iterable of Question or pairs of int
    answers : sequence of Answer, Relation, +1/-1/0 or str
    """
    asked = [q if isinstance(q, Question) else _to_pair(q) for q in questions]
    if len(asked) != len(answers):
        raise InvalidParameterError(
            f"tell needs one answer for each question, got {len(asked)} questions and "
            f"{len(answers)} answers."
        )
    return [_to_answer(q, a) for q, a in zip(asked, answers, strict=True)]


def constraints_to_answers(
    pairs: npt.ArrayLike | None = None,
    relations: npt.ArrayLike | None = None,
    ml: Iterable[Any] | None = None,
    cl: Iterable[Any] | None = None,
    **unknown: Any,
) -> list[Answer]:
    """Return the answers equivalent to signed index pairs, must-links and cannot-links."""
    for name in unknown:
        raise InvalidParameterError(
            f"fit got an unknown argument {name!r}; constraints are given as pairs, relations, "
            "ml, cl."
        )
    if (pairs is None) != (relations is None):
        raise InvalidParameterError(
            "pairs and relations must be given together, or ml= and cl= as lists of pairs."
        )
    answers: list[Answer] = []
    if pairs is not None and relations is not None:
        answers += to_answers(np.asarray(pairs).tolist(), np.asarray(relations).tolist())
    for links, relation in ((ml, SAME), (cl, DIFFERENT)):
        linked = list(links or [])
        answers += to_answers(linked, [relation] * len(linked))
    return answers


def _to_pair(pair: Any) -> Question:
    try:
        first, second = pair
        return Question.pair(int(first), int(second))
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"A pair must be two different image positions, got {pair!r} ({error})."
        ) from error


def _to_answer(question: Question, answer: Any) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, str):
        return Answer(question, answer)
    if answer in _RELATIONS:
        return Answer(question, _RELATIONS[int(answer)])
    raise InvalidParameterError(
        f"An answer must be +1 (same), -1 (different), 0 (can't tell) or a string, got {answer!r}."
    )


#: Assumed seconds of a person: fixed, per group shown, per image of a grid, per ticked image.
PERSON_SECONDS = {
    "pair": (2.0, 0.0, 0.0, 0.0),
    "choice": (1.5, 0.2, 0.0, 0.0),
    "grid": (1.5, 0.0, 0.3, 0.5),
    "label": (3.0, 0.0, 0.0, 0.0),
}


def person_seconds(question: Question, n_ticked: float = 0) -> float:
    """Return the assumed time of a person for the answer to one question, in seconds.

    Examples
    --------
    >>> person_seconds(Question.pair(0, 1)), person_seconds(Question.choice(0, (1, 2), ("a", "b")))
    (2.0, 1.9)
    >>> person_seconds(Question.grid((0, 1, 2, 3), 4, "a"), n_ticked=1)
    3.2
    """
    fixed, per_group, per_image, per_tick = PERSON_SECONDS[question.kind]
    seconds = fixed + per_group * len(question.groups) + per_tick * n_ticked
    return round(seconds + per_image * len(question.asked), 6)
