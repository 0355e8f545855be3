"""What an answer says, fact by fact, and what the graph replies to it."""

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from likewise.constraints.question import (
    BAD_IMAGE,
    CANNOT_TELL,
    SAME,
    Answer,
)
from likewise.constraints.relation import Relation
from likewise.errors import InvalidParameterError

Said = tuple[int, int | str, Relation]  # an image, another or the name of a group, and how


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a given answer said; a choice says several.

    Parameters
    ----------
    answer_id : int
    first : int
        An image.
    second : int or str
        Another image, or the name of the group `first` was put into.
    relation : Relation

    Examples
    --------
    >>> str(Fact(0, 3, 9, Relation.SAME)), str(Fact(1, 3, "winter", Relation.SAME))
    ('3 = 9', "3 = 'winter'")
    """

    answer_id: int
    first: int
    second: int | str
    relation: Relation

    def __str__(self) -> str:
        return f"{self.first} {self.relation.sign} {self.second!r}"


@dataclass(frozen=True, slots=True)
class Told:
    """What became of an answer.

    Parameters
    ----------
    id : int
        By which the answer can be taken back.
    taken : bool
        False if it contradicts earlier answers and was set aside.
    proof : tuple of Fact
        Empty if taken; else the shortest chain of earlier given facts from
        which the opposite follows.
    n_settled : int
        How many pairs of images had no relation before and have one now, the
        pairs in the answer itself included.
    """

    id: int
    taken: bool
    proof: tuple[Fact, ...] = ()
    n_settled: int = 0


def said(answer: Answer, n_images: int) -> list[Said]:
    """Return the facts in `answer`, none where nothing follows from it.

    Raises
    ------
    InvalidParameterError
        If an image is not in the collection, or stands twice in the question.
    """
    question, word = answer.question, answer.answer
    images = checked_images(question.images, n_images)
    if word in (CANNOT_TELL, BAD_IMAGE):
        return []
    if question.kind == "pair":
        return [(images[0], images[1], Relation.SAME if word == SAME else Relation.DIFFERENT)]
    if question.kind == "label":
        return [(images[0], word, Relation.SAME)]
    return [
        (images[0], other, Relation.SAME if key == word else Relation.DIFFERENT)
        for other, key in zip(images[1:], question.groups, strict=True)
    ]


def checked_images(images: tuple[int, ...], n_images: int) -> Sequence[int]:
    """Return the images of one question as plain integers, or raise by name."""
    if len(images) == 2:  # a good pair is by far the most common: nothing to convert or say
        first, second = images
        are_plain = type(first) is int and type(second) is int and first != second
        if are_plain and 0 <= first < n_images and 0 <= second < n_images:
            return images
    checked = [checked_image(image, n_images) for image in images]
    if len(set(checked)) < len(checked):
        twice = Counter(checked).most_common(1)[0][0]
        raise InvalidParameterError(f"Image {twice} was paired with itself; ask about two images.")
    return checked


def checked_image(image: int, n_images: int) -> int:
    """Return `image` as a plain integer, or raise by name."""
    try:
        position = operator.index(image)
    except TypeError:
        raise InvalidParameterError(
            f"Image {image!r} is not a position in the collection; give an integer."
        ) from None
    if not 0 <= position < n_images:
        raise InvalidParameterError(
            f"Image {position} is not in this collection of {n_images}; "
            f"images are numbered 0 to {n_images - 1}."
        )
    return position
