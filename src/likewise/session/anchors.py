"""Pictures that people put into a group by its name: they, and what is tied to them, stay there.

Answers say which pictures belong together, not which group is the one called "winter". Whoever
chose a group or dragged a picture to it said that too.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import RESERVED, Answer
from likewise.session.groups import Groups
from likewise.session.session import Session

_ELSEWHERE = 1e-6  # outweighs three pictures that the model is 99 % sure of


def anchored(
    session: Session,
    orientation: str,
    probabilities: npt.NDArray[np.floating[Any]],
    keys: tuple[str, ...],
) -> npt.NDArray[np.floating[Any]]:
    """Return the probabilities with the pictures that were put into a group held there.

    Parameters
    ----------
    session : Session
    orientation : str
    probabilities : array of shape (n, k)
    keys : tuple of str
        The key of the group of each column; empty if nobody said, then nothing is held.
    """
    graph = session.graph(orientation)
    said = {n: answer for n, answer in graph.answers.items() if n not in graph.set_aside}
    return firmly(probabilities, held_in(said, session.groups(orientation), keys))


def held_in(said: Mapping[int, Answer], groups: Groups, keys: tuple[str, ...]) -> dict[int, int]:
    """Return the pictures that answers put into a group, and the column of it."""
    column = {groups.resolve(key): place for place, key in reversed(list(enumerate(keys)))}
    held = {}
    for answer in said.values():
        word = answer.answer
        place = None if word in RESERVED else column.get(groups.resolve(word))
        if place is not None:
            held[answer.question.images[0]] = place
    return held


def firmly(
    probabilities: npt.NDArray[np.floating[Any]], held: dict[int, int]
) -> npt.NDArray[np.floating[Any]]:
    """Return the probabilities with the pictures in `held` sure of their column."""
    if not held:
        return probabilities
    firm = probabilities.copy()
    firm[list(held)] = _ELSEWHERE
    firm[list(held), list(held.values())] = 1
    return firm
