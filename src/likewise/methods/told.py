"""Answers in the forms people hand them over, made into `Answer` objects."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import CANNOT_TELL, DIFFERENT, SAME, Answer, Question
from likewise.errors import InvalidParameterError

_WORDS = {1: SAME, -1: DIFFERENT, 0: CANNOT_TELL}


def as_answers(questions: Iterable[Any], answers: Sequence[Any]) -> list[Answer]:
    """Return `Answer` objects for questions and what was said to them.

    Parameters
    ----------
    questions : iterable of Question or pairs of int
    answers : sequence of Answer, Relation, +1/-1/0 or str
    """
    asked = [q if isinstance(q, Question) else _pair(q) for q in questions]
    if len(asked) != len(answers):
        raise InvalidParameterError(
            f"{len(asked)} questions were told with {len(answers)} answers; give one answer each."
        )
    return [_answer(q, a) for q, a in zip(asked, answers, strict=True)]


def _pair(pair: Any) -> Question:
    try:
        first, second = pair
        return Question.pair(int(first), int(second))
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"{pair!r} is no pair of images ({error}); give two different positions."
        ) from error


def _answer(question: Question, said: Any) -> Answer:
    if isinstance(said, Answer):
        return said
    if isinstance(said, str):
        return Answer(question, said)
    if said in _WORDS:
        return Answer(question, _WORDS[int(said)])
    raise InvalidParameterError(
        f"{said!r} is no answer; give +1 (same), -1 (different), 0 (can't tell) or a word."
    )


def from_constraints(
    pairs: npt.ArrayLike | None,
    relations: npt.ArrayLike | None,
    ml: Iterable[Any] | None,
    cl: Iterable[Any] | None,
) -> list[Answer]:
    """Return the answers that index pairs with signs, and must- and cannot-links, stand for."""
    if (pairs is None) != (relations is None):
        raise InvalidParameterError(
            "pairs and relations go together; give both, or ml= and cl= lists of pairs."
        )
    said: list[Answer] = []
    if pairs is not None and relations is not None:
        said += as_answers(np.asarray(pairs).tolist(), np.asarray(relations).tolist())
    for links, word in ((ml, SAME), (cl, DIFFERENT)):
        linked = list(links or [])
        said += as_answers(linked, [word] * len(linked))
    return said


def checked_constraints(constraints: dict[str, Any]) -> dict[str, Any]:
    """Return what `from_constraints` takes; any other name is refused."""
    known = ("pairs", "relations", "ml", "cl")
    for name in constraints:
        if name not in known:
            raise InvalidParameterError(
                f"fit got an unknown argument {name!r}; constraints are given as "
                f"{', '.join(known)}."
            )
    return {name: constraints.get(name) for name in known}
