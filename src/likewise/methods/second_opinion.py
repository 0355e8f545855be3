"""Asking again about a doubtful answer, in other words: other faces of the same groups."""

from collections.abc import Sequence

import numpy as np

from likewise.constraints.question import MAX_GROUPS, Question
from likewise.methods.seeds_of_groups import Seeds
from likewise.methods.suspects import Suspect


def second_opinion(
    suspect: Suspect, seeds: Seeds, kinds: Sequence[str], turn: int = 0
) -> Question | None:
    """Return a question whose answer confirms or contradicts the suspect; None if there is none.

    Another face of each group is shown than last time, where there is one: the
    same mistake is then less likely to be made twice. An image that stands for
    its group is compared with the other groups only.

    Parameters
    ----------
    suspect : Suspect
    seeds : Seeds
    kinds : sequence of str
        Allowed kinds of questions.
    turn : int
        Another number shows other faces.
    """
    place = int(seeds.classes[suspect.image])
    order = sorted(range(len(seeds.keys)), key=lambda c: c != place)
    if suspect.image in seeds.representatives:
        order.remove(place)
    faces = [(_face(suspect.image, c, seeds, turn), seeds.keys[c]) for c in order]
    shown = [(face, key) for face, key in faces if face is not None][:MAX_GROUPS]
    if len(shown) > 1 and "choice" in kinds:
        pictures, keys = zip(*shown, strict=True)
        return Question.choice(suspect.image, pictures, keys)
    if shown and "pair" in kinds:
        return Question.pair(suspect.image, shown[0][0])
    return None


def _face(image: int, number: int, seeds: Seeds, turn: int) -> int | None:
    """Return a member of a class that is not the image; rather the latest than the usual one."""
    members = np.flatnonzero(seeds.classes == number)
    members = members[members != image]
    return int(members[-1 - turn % len(members)]) if len(members) else None
