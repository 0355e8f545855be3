"""Questions, answers, and the graph of the constraints that follow from the answers."""

from likewise.constraints.assignment import (
    ConstrainedAssignment,
    constrained_assignment,
    violated_answers,
)
from likewise.constraints.constraint import AnswerResult, Constraint
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation, Relations
from likewise.constraints.serialization import answer_from_line, answer_to_line

__all__ = [
    "Answer",
    "AnswerResult",
    "ConstrainedAssignment",
    "Constraint",
    "ConstraintGraph",
    "Question",
    "Relation",
    "Relations",
    "answer_from_line",
    "answer_to_line",
    "constrained_assignment",
    "violated_answers",
]
