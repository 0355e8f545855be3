"""Words that several tests of the graph share."""

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question


def written(graph: ConstraintGraph, answer_id: int) -> str:
    """The proof against an answer, as a person reads it."""
    return ", ".join(map(str, graph.set_aside[answer_id]))


def choice(image: int, shown: dict[str, int], word: str) -> Answer:
    """An answer to a choice between groups, each with its representative."""
    return Answer(Question.choice(image, tuple(shown.values()), tuple(shown)), word)
