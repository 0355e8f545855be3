"""Which groups are classes, and what answers settle."""

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.methods.seeds_of_groups import seeds_of

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT


def test_nothing_said_no_classes() -> None:
    seeds = seeds_of(ConstraintGraph(5), 3)
    assert seeds.keys == ()
    assert set(seeds.classes) == {-1}


def test_groups_known_to_differ_are_classes_in_the_order_of_the_log() -> None:
    graph = ConstraintGraph(8)
    graph.add(6, 7, DIFFERENT)
    graph.add(7, 2, SAME)
    seeds = seeds_of(graph, 3)
    assert seeds.keys == ("group 1", "group 2")
    assert seeds.classes.tolist() == [-1, -1, 1, -1, -1, -1, 0, 1]
    assert seeds.representatives == (6, 2)


def test_a_group_that_may_be_one_of_several_is_unsettled() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, DIFFERENT)
    graph.add(1, 5, SAME)
    graph.add(3, 4, SAME)
    graph.add(3, 0, DIFFERENT)
    seeds = seeds_of(graph, 3)
    ((images, excluded),) = seeds.unsettled
    assert images.tolist() == [3, 4]
    assert excluded == {0}


def test_with_all_classes_known_what_differs_from_all_but_one_is_that_one() -> None:
    graph = ConstraintGraph(8)
    for i, j in ((0, 1), (0, 2), (1, 2), (5, 0), (5, 1)):
        graph.add(i, j, DIFFERENT)
    assert seeds_of(graph, 3).classes[5] == 2
    assert seeds_of(graph, None).classes[5] == -1


def test_labels_give_their_names_and_what_cannot_be_told_gives_nothing() -> None:
    graph = ConstraintGraph(6)
    graph.label(0, "winter")
    graph.label(3, "summer")
    graph.tell(Answer(Question.pair(4, 5), "cannot_tell"))
    seeds = seeds_of(graph, None)
    assert seeds.keys == ("winter", "summer")
    assert seeds.classes.tolist() == [0, -1, -1, 1, -1, -1]
    assert seeds.unsettled == []


def test_the_least_doubtful_image_is_shown_for_its_class() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, DIFFERENT)
    for image in (2, 3):
        graph.add(0, image, SAME)
    seeds = seeds_of(graph, 2)
    assert seeds.facing({}).representatives == (0, 1)
    assert seeds.facing({0: 0.9, 2: 0.4, 3: 0.1, 7: 0.0}).representatives == (3, 1)
    assert seeds.facing({0: 0.1, 2: 0.4, 1: 0.8}).representatives == (0, 1)


def test_a_group_of_one_wrong_answer_gives_way_to_a_larger_one() -> None:
    graph = ConstraintGraph(8)
    for i, j in ((0, 1), (2, 0), (2, 1)):
        graph.add(i, j, DIFFERENT)
    for i, j in ((0, 3), (2, 4)):
        graph.add(i, j, SAME)
    seeds = seeds_of(graph, 2)
    assert seeds.representatives == (0, 2)
    assert [images.tolist() for images, _ in seeds.unsettled] == [[1]]
