"""Questions and answers, the two things that travel between a method and a person.

In memory an image is its position in the collection; on disk it is its content
hash (see ``wire.py`` for the JSON Lines form).
"""

from dataclasses import dataclass
from typing import Literal, Self

from likewise.errors import InvalidParameterError

Kind = Literal["pair", "choice", "label"]

SAME = "same"
DIFFERENT = "different"
CANNOT_TELL = "cannot_tell"
BAD_IMAGE = "bad_image"
NONE = "none"  # a choice: none of the groups shown
NEW = "new"  # a choice: a group of its own that is not among those shown
RESERVED = frozenset({SAME, DIFFERENT, CANNOT_TELL, BAD_IMAGE, NONE, NEW})
MAX_GROUPS = 9


@dataclass(frozen=True)
class Question:
    """Something to ask a person; build it with `pair`, `choice` or `label`.

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
        """Ask whether two images are the same; the pair is sorted here, once."""
        if first == second:
            raise InvalidParameterError(
                f"Image {first} was paired with itself; ask about two images."
            )
        return cls("pair", (min(first, second), max(first, second)))

    @classmethod
    def choice(cls, image: int, representatives: tuple[int, ...], groups: tuple[str, ...]) -> Self:
        """Ask which of the groups shown an image belongs to: a new one, or none."""
        if not 1 <= len(groups) <= MAX_GROUPS or len(groups) != len(representatives):
            raise InvalidParameterError(
                f"A choice shows 1 to {MAX_GROUPS} groups with one representative each; got "
                f"{len(groups)} groups and {len(representatives)} representatives."
            )
        if RESERVED.intersection(groups) or len(set(groups)) < len(groups):
            raise InvalidParameterError(
                f"A choice among the groups {list(groups)} cannot be answered: each needs a key of "
                f"its own that is none of {sorted(RESERVED)}."
            )
        return cls("choice", (image, *representatives), groups)

    @classmethod
    def label(cls, image: int) -> Self:
        """Ask for the name of the group an image belongs to."""
        return cls("label", (image,))


@dataclass(frozen=True)
class Answer:
    """What was said to a question, by whom, when, and how long it took.

    Parameters
    ----------
    question : Question
    answer : str
        ``"same"``, ``"different"``, ``"cannot_tell"``, ``"bad_image"``; for a
        choice also ``"none"``, ``"new"`` or the key of a group shown; for a
        label the name of the group.
    who, criterion : str
    at : str
        ISO 8601, UTC; empty where nobody noted it.
    seconds : float, optional
        From the question being shown to the answer.
    """

    question: Question
    answer: str
    who: str = ""
    criterion: str = ""
    at: str = ""
    seconds: float | None = None

    def __post_init__(self) -> None:
        problem = _problem(self.question, self.answer)
        if problem:
            raise InvalidParameterError(problem)


def _problem(question: Question, answer: str) -> str | None:
    """Return why `answer` is no answer to `question`, or None."""
    if answer in (CANNOT_TELL, BAD_IMAGE):
        return None
    if question.kind == "pair":
        allowed: tuple[str, ...] = (SAME, DIFFERENT)
    elif question.kind == "choice":
        allowed = (*question.groups, NONE, NEW)
    elif answer and answer not in RESERVED:
        return None
    else:
        return (
            f"{answer!r} cannot name a group; choose a name that is not one of {sorted(RESERVED)}."
        )
    if answer in allowed:
        return None
    words = ", ".join((*allowed, CANNOT_TELL, BAD_IMAGE))
    return f"{answer!r} does not answer a {question.kind} question; choose one of: {words}."
