"""Whether an answer is what the model expected, before it has learned from it."""

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import DIFFERENT, SAME, Answer


def was_foretold(answer: Answer, probabilities: npt.NDArray[np.float32]) -> bool | None:
    """Return whether the likeliest assignments give this answer; None if they give none.

    Parameters
    ----------
    answer : Answer
    probabilities : array of shape (n, k)
    """
    image, *others = answer.question.images
    likeliest = dict(
        zip((image, *others), probabilities[[image, *others]].argmax(axis=1), strict=True)
    )
    if answer.answer in (SAME, DIFFERENT):
        return bool((likeliest[image] == likeliest[others[0]]) == (answer.answer == SAME))
    if answer.question.kind == "choice" and answer.answer in answer.question.groups:
        chosen = others[answer.question.groups.index(answer.answer)]
        return bool(likeliest[image] == likeliest[chosen])
    if answer.answer in ("none", "new"):
        return bool(all(likeliest[image] != likeliest[other] for other in others))
    return None
