"""Questions, the answers to them, and the relations that an answer states.

In memory an image is its index in the collection; on disk it is its content
hash (see ``serialization.py``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, UnknownNameError

Kind = Literal["pair", "choice", "label"]
Relations = npt.NDArray[np.int8]  # values of `Relation`

KINDS: tuple[Kind, ...] = get_args(Kind)
SAME = "same"
DIFFERENT = "different"
CANNOT_TELL = "cannot_tell"
BAD_IMAGE = "bad_image"
NONE = "none"  # a choice: none of the groups shown
NEW = "new"  # a choice: a new group that is not among those shown
RESERVED = frozenset({SAME, DIFFERENT, CANNOT_TELL, BAD_IMAGE, NONE, NEW})
MAX_GROUPS = 9
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


@dataclass(frozen=True)
class Question:
    """A question to a person; create it with `pair`, `choice`, `label` or `build`.

    Parameters
    ----------
    kind : {"pair", "choice", "label"}
    images : tuple of int
        A pair: the two images, sorted. A label: the image. A choice: the image,
        then one representative of each group shown.
    groups : tuple of str
        A choice: the keys of the groups shown, in the order of their
        representatives. Empty otherwise.
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
        n_images = {"pair": 2, "label": 1}.get(kind, 1 + len(groups))
        if len(images) != n_images:
            with_groups = f" with {len(groups)} groups" if kind == "choice" else ""
            raise InvalidParameterError(
                f"A {kind} question{with_groups} must have {n_images} images, got {len(images)}."
            )
        if kind == "choice":
            return cls.choice(images[0], images[1:], groups)
        return cls.pair(*images) if kind == "pair" else cls.label(*images)


@dataclass(frozen=True)
class Answer:
    """The answer to a question, with who gave it, when, and how long it took.

    Parameters
    ----------
    question : Question
    answer : str
        ``"same"``, ``"different"``, ``"cannot_tell"``, ``"bad_image"``; for a
        choice also ``"none"``, ``"new"`` or the key of a group shown; for a
        label the name of the group.
    who, criterion : str
    at : str
        ISO 8601, UTC; empty if unknown.
    seconds : float, optional
        Time from showing the question to the answer.
    """

    question: Question
    answer: str
    who: str = ""
    criterion: str = ""
    at: str = ""
    seconds: float | None = None

    def __post_init__(self) -> None:
        if problem := _problem(self.question, self.answer):
            raise InvalidParameterError(problem)


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
    else:
        allowed = (*question.groups, NONE, NEW)
    if answer in allowed:
        return None
    options = ", ".join((*allowed, CANNOT_TELL, BAD_IMAGE))
    return f"The answer to a {question.kind} question must be one of {options}; got {answer!r}."


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
