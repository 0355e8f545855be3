"""What the learner is taught: answers, groups still open, stand-ins, and its own sure guesses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.methods.seeds_of_groups import Seeds
from likewise.seeds import stream

Indexes = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float32]
_STAND_IN, _OPEN_GROUP, _GUESS = 0.2, 0.5, 0.2  # trust, where an answer has 1
_MAX_GUESSES = 400
_LOOKED_AT = 10_000  # images among which sure ones are looked for
_ENOUGH, _LEAST_TRUST = 3, 0.05


@dataclass(frozen=True)
class Lesson:
    """Images with classes, and how far each is to be trusted.

    Parameters
    ----------
    images, classes : arrays of shape (m,)
    trust : array of shape (m,)
    n_classes : int
    """

    images: Indexes
    classes: Indexes
    trust: npt.NDArray[np.float64]
    n_classes: int

    def plus(self, images: Indexes, classes: Indexes, trust: float) -> "Lesson":
        """Return this lesson with further images."""
        return Lesson(
            np.concatenate([self.images, images]),
            np.concatenate([self.classes, classes]),
            np.concatenate([self.trust, np.full(len(images), trust)]),
            self.n_classes,
        )

    def doubting(self, slipped: npt.NDArray[np.float64]) -> "Lesson":
        """Return this lesson with less trust in images whose label may be a slip.

        Not in groups of which little is known: there everything is surprising.
        """
        is_known = np.bincount(self.classes, minlength=self.n_classes)[self.classes] >= _ENOUGH
        doubt = np.where(is_known, slipped, 0.0)
        trust = self.trust * (1 - doubt).clip(_LEAST_TRUST)
        return Lesson(self.images, self.classes, trust, self.n_classes)


def first_lesson(seeds: Seeds, facets: Mapping[str, Floats], n_classes: int) -> Lesson:
    """Return what answers settle, and a stand-in for each class nobody has seen yet.

    A stand-in is the image farthest from all that are taken: a guess at what the
    missing groups may be, dropped as soon as answers show them.
    """
    images = np.flatnonzero(seeds.classes >= 0)
    lesson = Lesson(images, seeds.classes[images], np.ones(len(images)), n_classes)
    missing = range(len(seeds.keys), n_classes)
    if not missing:
        return lesson
    near = _similarity(facets, images).max(axis=1)
    for number in missing:
        farthest = near.argmin(keepdims=True)
        lesson = lesson.plus(farthest, np.array([number]), _STAND_IN)
        near = np.maximum(near, _similarity(facets, farthest)[:, 0])
    return lesson


def _similarity(facets: Mapping[str, Floats], images: Indexes) -> Floats:
    """Return how alike each image is to the given ones, all facets together, ``(n, m)``."""
    total: Floats = sum(rows @ rows[images].T for rows in facets.values())  # type: ignore[assignment]  # never empty
    return total


def second_lesson(
    lesson: Lesson, seeds: Seeds, believe: Callable[[Indexes], Floats], share: float, seed: int
) -> Lesson:
    """Return the lesson with open groups and the surest guesses added, if there are any.

    Parameters
    ----------
    lesson : Lesson
    seeds : Seeds
    believe : callable
        Given images, returns their probabilities ``(m, k)``.
    share : float
        Of the most confident images of each class.
    seed : int
    """
    grown = lesson
    for images, excluded in seeds.unsettled:
        beliefs = np.log(believe(images).clip(1e-9)).sum(axis=0)
        beliefs[list(excluded)] = -np.inf
        best = np.full(len(images), beliefs.argmax(), dtype=np.intp)
        grown = grown.plus(images, best, _OPEN_GROUP)
    is_free = np.ones(len(seeds.classes), dtype=bool)
    is_free[grown.images] = False
    free = np.flatnonzero(is_free)
    free = free[:: max(1, -(-len(free) // _LOOKED_AT))]
    if not len(free) or not share:
        return grown
    probabilities = believe(free)
    sure = _surest(probabilities, share, seed)
    return grown.plus(free[sure], probabilities[sure].argmax(axis=1), _GUESS)


def _surest(probabilities: Floats, share: float, seed: int) -> Indexes:
    """Return the rows of the most confident `share` of each class, at most 400."""
    confidence, found = probabilities.max(axis=1), probabilities.argmax(axis=1)
    sure = [np.empty(0, dtype=np.intp)]
    for number in range(probabilities.shape[1]):
        members = np.flatnonzero(found == number)
        order = np.argsort(-confidence[members], kind="stable")
        sure.append(members[order[: int(share * len(members))]])
    chosen = np.concatenate(sure)
    return stream(seed, "guesses").permutation(chosen)[:_MAX_GUESSES]
