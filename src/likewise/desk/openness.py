"""Whether a question is still worth a person's time, now that other answers have come in."""

from collections.abc import Collection

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Question, Relation

Subject = tuple[int, ...]


def subject(question: Question) -> Subject:
    """Return what a question is about: a pair, or the one image to be placed."""
    return question.images if question.kind == "pair" else question.images[:1]


def also_settled(question: Question, told: AnswerResult) -> int:
    """Return how many pairs an answer settled beside those it was asked about.

    Examples
    --------
    >>> also_settled(Question.pair(0, 1), AnswerResult(1, accepted=True, n_settled=15))
    14
    """
    return max(0, told.n_settled - (len(question.images) - 1))


def subjects(graph: ConstraintGraph) -> set[Subject]:
    """Return what was asked before, also where the answer was "can't tell"."""
    return {subject(answer.question) for answer in graph.answers.values()}


def still_open(
    question: Question, graph: ConstraintGraph, asked: Collection[Subject], bad: set[int]
) -> Question | None:
    """Return the question as it should be put now, None if nothing would be learned.

    Groups that an image is known not to belong to are no longer shown; a choice
    of one group becomes a pair.
    """
    if subject(question) in asked or bad.intersection(question.images[:2]):
        return None
    if question.kind == "label":
        return question
    image, *others = question.images
    relations = [graph.relation(image, other) for other in others]
    left = [place for place, known in enumerate(relations) if known is Relation.UNKNOWN]
    if Relation.SAME in relations or not left:
        return None
    if question.kind == "pair":
        return question
    return _narrowed(question, left, asked)


def _narrowed(question: Question, left: list[int], asked: Collection[Subject]) -> Question | None:
    """Return a choice of those groups alone; a pair if there is one."""
    image, *others = question.images
    if len(left) == 1:
        pair = Question.pair(image, others[left[0]])
        return None if pair.images in asked else pair
    faces, keys = zip(*((others[place], question.groups[place]) for place in left), strict=True)
    return Question.choice(image, faces, keys)
