"""Which groups are classes, what follows from answers, placeholders and pseudo-labels."""

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.estimators.kernel.training_set import (
    TrainingSet,
    add_placeholders,
    add_pseudo_labels,
    labeled_groups,
    labeled_set,
)

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT


def test_no_classes_without_answers() -> None:
    groups = labeled_groups(ConstraintGraph(5), 3)
    assert groups.keys == ()
    assert set(groups.classes) == {-1}
    assert groups.n_labeled == 0


def test_groups_known_to_differ_are_classes_in_the_order_of_the_answers() -> None:
    graph = ConstraintGraph(8)
    graph.add(6, 7, DIFFERENT)
    graph.add(7, 2, SAME)
    groups = labeled_groups(graph, 3)
    assert groups.keys == ("group 1", "group 2")
    assert groups.classes.tolist() == [-1, -1, 1, -1, -1, -1, 0, 1]
    assert groups.prototypes == (6, 2)
    assert groups.n_labeled == 3


def test_a_group_that_may_be_one_of_several_is_undecided() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, DIFFERENT)
    graph.add(1, 5, SAME)
    graph.add(3, 4, SAME)
    graph.add(3, 0, DIFFERENT)
    ((images, excluded),) = labeled_groups(graph, 3).undecided
    assert images.tolist() == [3, 4]
    assert excluded == {0}


def test_with_all_classes_known_a_group_that_differs_from_all_but_one_is_that_one() -> None:
    graph = ConstraintGraph(8)
    for i, j in ((0, 1), (0, 2), (1, 2), (5, 0), (5, 1)):
        graph.add(i, j, DIFFERENT)
    assert labeled_groups(graph, 3).classes[5] == 2
    assert labeled_groups(graph, None).classes[5] == -1


def test_labels_name_their_classes_and_cannot_tell_adds_nothing() -> None:
    graph = ConstraintGraph(6)
    graph.label(0, "winter")
    graph.label(3, "summer")
    graph.tell(Answer(Question.pair(4, 5), "cannot_tell"))
    groups = labeled_groups(graph, None)
    assert groups.keys == ("winter", "summer")
    assert groups.classes.tolist() == [0, -1, -1, 1, -1, -1]
    assert groups.undecided == []


def test_the_prototype_is_the_image_with_the_most_reliable_label() -> None:
    graph = ConstraintGraph(8)
    graph.add(0, 1, DIFFERENT)
    for image in (2, 3):
        graph.add(0, image, SAME)
    groups = labeled_groups(graph, 2)
    assert groups.with_prototypes({}).prototypes == (0, 1)
    assert groups.with_prototypes({0: 0.9, 2: 0.4, 3: 0.1, 7: 0.0}).prototypes == (3, 1)
    assert groups.with_prototypes({0: 0.1, 2: 0.4, 1: 0.8}).prototypes == (0, 1)


def test_a_larger_group_replaces_a_group_of_one_wrong_answer() -> None:
    graph = ConstraintGraph(8)
    for i, j in ((0, 1), (2, 0), (2, 1)):
        graph.add(i, j, DIFFERENT)
    for i, j in ((0, 3), (2, 4)):
        graph.add(i, j, SAME)
    groups = labeled_groups(graph, 2)
    assert groups.prototypes == (0, 2)
    assert [images.tolist() for images, _ in groups.undecided] == [[1]]


def test_labeled_images_come_in_the_order_of_their_answers() -> None:
    graph = ConstraintGraph(9)
    graph.label(5, "winter")
    graph.label(2, "summer")
    graph.label(7, "winter")
    training = labeled_set(labeled_groups(graph, None), graph, 3)
    assert training.images.tolist() == [5, 2, 7]
    assert training.classes.tolist() == [0, 1, 0]
    assert training.sample_weight.tolist() == [1, 1, 1]
    assert training.n_classes == 3


def test_a_class_without_labels_has_a_placeholder_far_from_the_others() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, DIFFERENT)
    rows = np.eye(6, dtype=np.float32)
    rows[2:5] = rows[0]  # so image 5 is the farthest
    training = add_placeholders(labeled_set(labeled_groups(graph, 3), graph, 3), {"all": rows})
    assert training.images.tolist() == [0, 1, 5]
    assert training.classes.tolist() == [0, 1, 2]
    assert training.sample_weight[2] < training.sample_weight[0] == 1


def test_undecided_groups_and_confident_predictions_are_added_with_less_weight() -> None:
    graph = ConstraintGraph(20)
    graph.add(0, 1, DIFFERENT)
    graph.add(3, 0, DIFFERENT)
    groups = labeled_groups(graph, 3)
    p = np.tile(np.array([0.9, 0.06, 0.04], np.float32), (20, 1))
    training = labeled_set(groups, graph, 3)
    more = add_pseudo_labels(training, groups, lambda images: p[images], fraction=0.5, seed=0)
    assert more.classes[more.images == 3].tolist() == [1]  # not 0: an answer excludes it
    assert len(more.images) > len(training.images) + 1
    assert set(more.sample_weight[len(training.images) :]) <= {0.5, 0.2}


def test_without_a_fraction_there_are_no_pseudo_labels() -> None:
    graph = ConstraintGraph(20)
    graph.add(0, 1, DIFFERENT)
    groups = labeled_groups(graph, 2)
    p = np.full((20, 2), 0.5, np.float32)
    training = labeled_set(groups, graph, 2)
    more = add_pseudo_labels(training, groups, lambda images: p[images], fraction=0.0, seed=0)
    assert more.images.tolist() == training.images.tolist()


def test_doubtful_labels_get_less_weight_except_in_classes_with_few() -> None:
    training = TrainingSet(np.arange(5), np.array([0, 0, 0, 1, 1]), np.ones(5), 2)
    found = training.downweight(np.array([0.8, 0.0, 1.0, 0.8, 0.0]))
    np.testing.assert_allclose(found.sample_weight, [0.2, 1, 0.05, 1, 1])
