"""Answers as users give them, and answers of an oracle, to questions of an estimator."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import CANNOT_TELL, DIFFERENT, SAME, Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning, PoolExhaustedError

if TYPE_CHECKING:
    from likewise.oracles.base import Oracle

Tell = Callable[[Sequence[Question], Sequence[Answer]], Any]
_RELATIONS = {1: SAME, -1: DIFFERENT, 0: CANNOT_TELL}


def to_answers(questions: Iterable[Any], answers: Sequence[Any]) -> list[Answer]:
    """Return `Answer` objects.

    Parameters
    ----------
    questions : iterable of Question or pairs of int
    answers : sequence of Answer, Relation, +1/-1/0 or str
    """
    asked = [q if isinstance(q, Question) else _to_pair(q) for q in questions]
    if len(asked) != len(answers):
        raise InvalidParameterError(
            f"tell needs one answer for each question, got {len(asked)} questions and "
            f"{len(answers)} answers."
        )
    return [_to_answer(q, a) for q, a in zip(asked, answers, strict=True)]


def constraints_to_answers(
    pairs: npt.ArrayLike | None = None,
    relations: npt.ArrayLike | None = None,
    ml: Iterable[Any] | None = None,
    cl: Iterable[Any] | None = None,
    **unknown: Any,
) -> list[Answer]:
    """Return the answers equivalent to signed index pairs, must-links and cannot-links."""
    for name in unknown:
        raise InvalidParameterError(
            f"fit got an unknown argument {name!r}; constraints are given as pairs, relations, "
            "ml, cl."
        )
    if (pairs is None) != (relations is None):
        raise InvalidParameterError(
            "pairs and relations must be given together, or ml= and cl= as lists of pairs."
        )
    answers: list[Answer] = []
    if pairs is not None and relations is not None:
        answers += to_answers(np.asarray(pairs).tolist(), np.asarray(relations).tolist())
    for links, relation in ((ml, SAME), (cl, DIFFERENT)):
        linked = list(links or [])
        answers += to_answers(linked, [relation] * len(linked))
    return answers


def ask_oracle(
    questions: Sequence[Question], oracle: "Oracle", graph: ConstraintGraph, tell: Tell
) -> int:
    """Have questions answered one after another; return how many were asked.

    Questions of one round are chosen together, so the answer to one may imply another,
    which is then not asked.
    """
    n_asked = 0
    for question in questions:
        if not is_implied(question, graph):
            tell([question], oracle.answer([question]))
            n_asked += 1
    return n_asked


def is_implied(question: Question, graph: ConstraintGraph) -> bool:
    """Return whether the answer to a pair or label question follows from the constraints."""
    if question.kind == "pair":
        return graph.relation(*question.images) != 0
    if question.kind == "label":
        return int(graph.groups()[question.images[0]]) in graph.group_names()
    return False


def warn_exhausted(error: PoolExhaustedError, n_left: int) -> None:
    """Warn that `fit` asked fewer questions than it was allowed to."""
    warnings.warn(f"{error} Asked the {n_left} that were left.", LikewiseWarning, stacklevel=5)


def _to_pair(pair: Any) -> Question:
    try:
        first, second = pair
        return Question.pair(int(first), int(second))
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"A pair must be two different image positions, got {pair!r} ({error})."
        ) from error


def _to_answer(question: Question, answer: Any) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, str):
        return Answer(question, answer)
    if answer in _RELATIONS:
        return Answer(question, _RELATIONS[int(answer)])
    raise InvalidParameterError(
        f"An answer must be +1 (same), -1 (different), 0 (can't tell) or a string, got {answer!r}."
    )
