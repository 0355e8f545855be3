from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.desk.openness import still_open, subjects

CHOICE = Question.choice(0, (1, 2, 3), ("a", "b", "c"))


def check(question: Question, graph: ConstraintGraph) -> Question | None:
    return still_open(question, graph, subjects(graph), graph.bad_images)


def test_an_open_question_stays_as_it_is() -> None:
    graph = ConstraintGraph(6)
    assert check(CHOICE, graph) is not None
    assert check(Question.pair(0, 1), graph) == Question.pair(0, 1)


def test_what_follows_is_not_asked() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 4, Relation.SAME)
    graph.add(4, 1, Relation.SAME)
    assert check(Question.pair(0, 1), graph) is None
    assert check(CHOICE, graph) is None


def test_what_nobody_could_tell_is_not_asked_again() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, Relation.UNKNOWN)
    assert check(Question.pair(0, 1), graph) is None


def test_a_choice_shows_no_group_that_is_ruled_out() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 2, Relation.DIFFERENT)
    assert check(CHOICE, graph) == Question.choice(0, (1, 3), ("a", "c"))


def test_a_choice_of_one_is_a_pair() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 2, Relation.DIFFERENT)
    graph.add(0, 3, Relation.DIFFERENT)
    assert check(CHOICE, graph) == Question.pair(0, 1)


def test_bad_pictures_are_not_asked_about() -> None:
    graph = ConstraintGraph(6)
    graph.tell(Answer(Question.label(0), "bad_image"))
    assert check(Question.pair(0, 5), graph) is None
