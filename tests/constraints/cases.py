"""Helpers that several tests of the graph share."""

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question


def proof_text(graph: ConstraintGraph, answer_id: int) -> str:
    """The proof of a conflict as text."""
    return ", ".join(map(str, graph.conflicts[answer_id]))


def choice(image: int, shown: dict[str, int], answer: str) -> Answer:
    """An answer to a choice between groups, each with its representative."""
    return Answer(Question.choice(image, tuple(shown.values()), tuple(shown)), answer)
