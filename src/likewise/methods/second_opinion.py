"""Asking again about a doubtful answer, in other words: other faces of the same groups."""

from collections.abc import Sequence

import numpy as np

from likewise.constraints.question import MAX_GROUPS, Question
from likewise.methods.seeds_of_groups import Seeds
from likewise.methods.suspects import Suspect


def second_opinion(suspect: Suspect, seeds: Seeds, kinds: Sequence[str]) -> Question | None:
    """Return a question whose answer confirms or contradicts the suspect; None if there is none.

    Another face of each group is shown than last time, where there is one: the
    same mistake is then less likely to be made twice.
    """
    order = sorted(range(len(seeds.keys)), key=lambda c: c != seeds.classes[suspect.image])
    faces = [(_face(suspect.image, c, seeds), seeds.keys[c]) for c in order]
    shown = [(face, key) for face, key in faces if face is not None][:MAX_GROUPS]
    if len(shown) > 1 and "choice" in kinds:
        pictures, keys = zip(*shown, strict=True)
        return Question.choice(suspect.image, pictures, keys)
    if shown and "pair" in kinds:
        return Question.pair(suspect.image, shown[0][0])
    return None


def _face(image: int, number: int, seeds: Seeds) -> int | None:
    """Return a member of a class that is not the image; rather the latest than the usual one."""
    members = np.flatnonzero(seeds.classes == number)
    members = members[members != image]
    return int(members[-1]) if len(members) else None
