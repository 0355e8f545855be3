"""What an answer leaves open, and whether it is what the model expected before it learned it."""

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import DIFFERENT, SAME, Answer
from likewise.types import Indexes

Columns = npt.NDArray[np.bool_]


def columns_left(answer: Answer, places: Indexes, n_columns: int) -> Columns | None:
    """Return which columns an answer leaves for the image it is about; None if it tells nothing.

    Parameters
    ----------
    answer : Answer
    places : array of shape (m,)
        The columns of the images it was compared with, in their order.
    n_columns : int
    """
    question, said = answer.question, answer.answer
    is_left = np.zeros(n_columns, dtype=bool)
    if said in (SAME, DIFFERENT):
        is_left[places[0]] = True
    elif question.kind == "choice" and said in question.groups:
        is_left[places[question.groups.index(said)]] = True
    elif said in ("none", "new"):
        is_left[places] = True
    else:
        return None
    return ~is_left if said in (DIFFERENT, "none", "new") else is_left


def was_foretold(answer: Answer, probabilities: npt.NDArray[np.float32]) -> bool | None:
    """Return whether the likeliest assignments give this answer; None if they give none.

    Parameters
    ----------
    answer : Answer
    probabilities : array of shape (n, k)
    """
    place, *places = probabilities[list(answer.question.images)].argmax(axis=1)
    is_left = columns_left(answer, np.array(places, dtype=np.intp), probabilities.shape[1])
    return None if is_left is None else bool(is_left[place])


def asked_about(answer: Answer, probabilities: npt.NDArray[np.float32]) -> tuple[int, list[int]]:
    """Return the image a question is about, and those beside it.

    A pair has no order: it is about the less certain of the two.
    """
    image, *others = answer.question.images
    if answer.question.kind == "pair":
        image, *others = sorted((image, *others), key=lambda i: probabilities[i].max())
    return image, others
