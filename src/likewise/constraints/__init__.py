"""What answers say of images: questions, answers, and the graph of what follows from them."""

from likewise.constraints.facts import Fact, Told
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.honour import Honoured, honour, violated
from likewise.constraints.question import Answer, Question
from likewise.constraints.relation import Indexes, Pairs, Relation, Relations
from likewise.constraints.wire import from_line, to_line

__all__ = [
    "Answer",
    "ConstraintGraph",
    "Fact",
    "Honoured",
    "Indexes",
    "Pairs",
    "Question",
    "Relation",
    "Relations",
    "Told",
    "from_line",
    "honour",
    "to_line",
    "violated",
]
