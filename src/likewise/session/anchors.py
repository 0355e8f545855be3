"""Pictures that people put into a group by its name: they, and what is tied to them, stay there.

Answers say which pictures belong together, not which group is the one called "winter". Whoever
chose a group or dragged a picture to it said that too.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

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
    groups, set_aside = session.groups(orientation), session.graph(orientation).set_aside
    column = {groups.resolve(key): place for place, key in reversed(list(enumerate(keys)))}
    held = {}
    for entry in session.answers(orientation):
        place = column.get(groups.resolve(entry.group)) if entry.group is not None else None
        if place is not None and entry.id not in set_aside:
            held[session.images.positions[entry.images[0]]] = place
    if not held:
        return probabilities
    firm = probabilities.copy()
    firm[list(held)] = _ELSEWHERE
    firm[list(held), list(held.values())] = 1
    return firm
