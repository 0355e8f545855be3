"""Questions put to an oracle one after another, none that the answers before it have settled."""

from collections.abc import Callable, Sequence
from typing import Any

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question
from likewise.oracles.base import Oracle

Tell = Callable[[Sequence[Question], Sequence[Answer]], Any]


def put(questions: Sequence[Question], oracle: Oracle, graph: ConstraintGraph, tell: Tell) -> int:
    """Have questions answered, each told before the next is put; return how many were put.

    Questions of one round are chosen together, so an answer may settle one that waits.
    """
    n_put = 0
    for question in questions:
        if not is_settled(question, graph):
            tell([question], oracle.answer([question]))
            n_put += 1
    return n_put


def is_settled(question: Question, graph: ConstraintGraph) -> bool:
    """Return whether the answer to a pair or a label follows from what is known."""
    if question.kind == "pair":
        return graph.relation(*question.images) != 0
    if question.kind == "label":
        return int(graph.groups()[question.images[0]]) in graph.group_names()
    return False
