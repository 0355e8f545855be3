"""What one answer implies by itself: pairwise constraints, and allowed classes of its image."""

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import (
    BAD_IMAGE,
    CANNOT_TELL,
    DIFFERENT,
    NEW,
    NONE,
    SAME,
    Answer,
    Question,
    Relation,
)
from likewise.errors import InvalidParameterError
from likewise.types import Floats, Indexes

GivenRelation = tuple[int, int | str, Relation]  # an image; another image or a group name; relation


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
    excluded : tuple of int
        Of a grid that is a conflict: the images whose constraint is not used. Those of the
        other images are.
    """

    id: int
    accepted: bool
    proof: tuple[Constraint, ...] = ()
    n_settled: int = 0
    excluded: tuple[int, ...] = ()

    def n_implied(self, question: Question) -> int:
        """Return how many pairs the answer determined beside those of its question.

        Examples
        --------
        >>> AnswerResult(1, accepted=True, n_settled=15).n_implied(Question.pair(0, 1))
        14
        """
        return max(0, self.n_settled - (len(question.images) - 1))


def given_relations(answer: Answer, n_images: int) -> list[GivenRelation]:
    """Return the relations that `answer` states; empty for "cannot tell" and "bad image".

    Those of a grid start at the representative of its group, all others at the image asked about.

    Raises
    ------
    InvalidParameterError
        If an image is not in the collection or occurs twice in the question.
    """
    question, value = answer.question, answer.answer
    images = checked_images(question.images, n_images)
    if value in (CANNOT_TELL, BAD_IMAGE):
        return []
    if question.kind == "pair":
        return [(images[0], images[1], Relation.SAME if value == SAME else Relation.DIFFERENT)]
    if question.kind == "label":
        return [(images[0], value, Relation.SAME)]
    if question.kind == "grid":
        *asked, shown = images
        ticked = set(answer.ticked)
        return [(shown, i, Relation.DIFFERENT if i in ticked else Relation.SAME) for i in asked]
    return [
        (images[0], other, Relation.SAME if key == value else Relation.DIFFERENT)
        for other, key in zip(images[1:], question.groups, strict=True)
    ]


def checked_images(images: tuple[int, ...], n_images: int) -> Sequence[int]:
    """Return the images of one question as plain integers; raise if one is not valid."""
    if len(images) == 2:  # fast path for a valid pair, the most common question
        first, second = images
        are_plain = type(first) is int and type(second) is int and first != second
        if are_plain and 0 <= first < n_images and 0 <= second < n_images:
            return images
    checked = [checked_image(image, n_images) for image in images]
    if len(set(checked)) < len(checked):
        twice = Counter(checked).most_common(1)[0][0]
        raise InvalidParameterError(
            f"The images of a question must be different, got image {twice} twice."
        )
    return checked


def checked_image(image: int, n_images: int) -> int:
    """Return `image` as a plain integer; raise if it is not an index of the collection."""
    try:
        index = operator.index(image)
    except TypeError:
        raise InvalidParameterError(f"An image must be an integer index, got {image!r}.") from None
    if not 0 <= index < n_images:
        raise InvalidParameterError(
            f"Image {index} is not in this collection of {n_images}; "
            f"images are numbered 0 to {n_images - 1}."
        )
    return index


def allowed_classes(
    answer: Answer, classes: Indexes, n_columns: int
) -> npt.NDArray[np.bool_] | None:
    """Return which columns an answer allows for its image; None if it excludes nothing.

    Parameters
    ----------
    answer : Answer
    classes : array of shape (m,)
        The columns of the images that it was compared with, in their order.
    n_columns : int
    """
    question, given = answer.question, answer.answer
    allowed = np.zeros(n_columns, dtype=bool)
    if given in (SAME, DIFFERENT):
        allowed[classes[0]] = True
    elif question.kind == "choice" and given in question.groups:
        allowed[classes[question.groups.index(given)]] = True
    elif given in (NONE, NEW):
        allowed[classes] = True
    else:
        return None
    return ~allowed if given in (DIFFERENT, NONE, NEW) else allowed


def was_predicted(answer: Answer, probabilities: Floats) -> bool | None:
    """Return whether the most likely classes give this answer; None if they give none.

    Parameters
    ----------
    answer : Answer
    probabilities : array of shape (n, k)
    """
    if answer.question.kind == "grid":
        pairs = [pair for pair in answer.as_pairs() if pair is not answer]
        return all(was_predicted(pair, probabilities) for pair in pairs) if pairs else None
    own, *others = probabilities[list(answer.question.images)].argmax(axis=1)
    columns = np.array(others, dtype=np.intp)
    allowed = allowed_classes(answer, columns, probabilities.shape[1])
    return None if allowed is None else bool(allowed[own])
