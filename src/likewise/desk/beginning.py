"""Questions for the first moments, before any model has spoken: pairs at random."""

from collections.abc import Callable

import numpy as np

from likewise.constraints.question import Question
from likewise.types import Indexes

_TRIES = 40  # draws for each question wanted


def random_questions(
    images: Indexes,
    n: int,
    check: Callable[[Question], Question | None],
    rng: np.random.Generator,
) -> list[Question]:
    """Return at most `n` pairs whose relation is open; fewer where few are left.

    Small collections are gone through to the end, so that the last open pair is found.
    """
    if len(images) < 2:
        return []
    found: dict[tuple[int, ...], Question] = {}
    for first, second in _draws(images, n, rng):
        question = check(Question.pair(first, second)) if first != second else None
        if question is not None:
            found.setdefault(question.images, question)
        if len(found) >= n:
            break
    return list(found.values())


def _draws(images: Indexes, n: int, rng: np.random.Generator) -> list[list[int]]:
    if len(images) <= 64:
        first, second = np.triu_indices(len(images), k=1)
        order = rng.permutation(len(first))
        pairs: list[list[int]] = np.stack([images[first], images[second]], axis=1)[order].tolist()
        return pairs
    drawn: list[list[int]] = rng.choice(images, size=(_TRIES * n, 2)).tolist()
    return drawn
