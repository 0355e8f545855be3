"""Constrained assignment."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints.assignment import constrained_assignment, violated_answers
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import InvalidParameterError
from likewise.random_streams import stream

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
N = 7
EVERYTHING = np.array(list(itertools.product(range(3), repeat=N)))  # all clusterings
answered = st.lists(
    st.tuples(st.permutations(range(N)), st.sampled_from(["pair", "pair", "label", "choice"])),
    max_size=12,
)


def tell(graph: ConstraintGraph, labels: list[int], order: list[int], kind: str) -> None:
    """Add an answer according to the labels."""
    first, second, third = order[:3]
    if kind == "label":
        graph.label(first, f"name {labels[first]}")
    elif kind == "pair":
        graph.add(first, second, SAME if labels[first] == labels[second] else DIFFERENT)
    else:
        fits = [k for k, i in zip("ab", (second, third), strict=True) if labels[i] == labels[first]]
        question = Question.choice(first, (second, third), ("a", "b"))
        graph.tell(Answer(question, fits[0] if len(fits) == 1 else "cannot_tell"))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    labels=st.lists(st.integers(0, 2), min_size=N, max_size=N),
    answers=answered,
    seed=st.integers(0, 10**6),
)
def test_consistent_answers_are_satisfied_by_the_most_probable_labels(
    labels: list[int], answers: list[tuple[list[int], str]], seed: int
) -> None:
    graph = ConstraintGraph(N)
    for order, kind in answers:
        tell(graph, labels, order, kind)
    probabilities = stream(seed, "probabilities").dirichlet(np.ones(3), N)
    result = constrained_assignment(probabilities, graph)
    known = graph.relations(range(N))
    assert fits(result.labels, known)
    assert violated_answers(result.labels, graph) == []
    allowed = EVERYTHING[fits(EVERYTHING, known)]
    logs = np.log(probabilities)[np.arange(N), allowed].sum(axis=1)
    assert np.log(probabilities)[np.arange(N), result.labels].sum() == pytest.approx(logs.max())


def fits(labels: np.ndarray, known: np.ndarray) -> npt.NDArray[np.bool_]:
    """Whether labels (.., n) satisfy all known relations."""
    is_same = labels[..., :, None] == labels[..., None, :]
    return np.asarray(np.where(is_same, known >= 0, known <= 0).all(axis=(-2, -1)))


def test_images_without_constraints_keep_their_most_probable_cluster() -> None:
    graph = ConstraintGraph(4)
    graph.add(0, 1, SAME)
    result = constrained_assignment(
        np.array([[0.6, 0.4], [0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), graph
    )
    assert result.labels.tolist() == [1, 1, 0, 1]
    assert result.n_violations == 1
    assert violated_answers(result.labels, graph) == []


def test_an_answer_has_precedence_over_a_probability_of_zero() -> None:
    graph = ConstraintGraph(3)
    graph.add(0, 1, DIFFERENT)
    result = constrained_assignment(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), graph)
    assert sorted(result.labels[:2].tolist()) == [0, 1]


def test_every_violated_answer_counts_once_and_conflicts_do_not() -> None:
    graph = ConstraintGraph(6)
    graph.add(0, 1, SAME)
    graph.add(0, 1, DIFFERENT)  # a conflict
    graph.add(2, 3, DIFFERENT)
    graph.tell(Answer(Question.choice(4, (0, 2, 3), ("a", "b", "c")), "none"))
    graph.add(4, 5, Relation.UNKNOWN)
    assert violated_answers(np.array([0, 1, 2, 2, 2, 2]), graph) == [0, 2, 3]
    assert violated_answers(np.array([0, 0, 2, 3, 4, 2]), graph) == []


def test_names_are_matched_with_clusters_one_to_one_by_most_answers() -> None:
    graph = ConstraintGraph(5)
    for image, name in enumerate(["a", "a", "a", "b", "b"]):
        graph.label(image, name)
    assert violated_answers(np.array([1, 1, 0, 0, 0]), graph) == [2]
    assert violated_answers(np.array([1, 1, 1, 1, 1]), graph) == [3, 4]
    assert violated_answers(np.array([1, 0, 1, 0, 1]), graph) == [1, 4]
    assert (
        violated_answers(np.array([-1, -1, -1, 7, 7]), graph) == []
    )  # cluster numbers do not matter


def test_more_different_groups_than_clusters_violate_the_fewest_answers() -> None:
    graph = ConstraintGraph(3)
    for i, j in itertools.combinations(range(3), 2):
        graph.add(i, j, DIFFERENT)
    result = constrained_assignment(np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]]), graph)
    assert result.n_violations == 3
    assert len(violated_answers(result.labels, graph)) == 1


@pytest.mark.parametrize("two_groups", [False, True])
def test_many_answers_from_two_groups_are_all_satisfied(two_groups: bool) -> None:
    rng = stream(0, "many answers")
    labels = rng.integers(2, size=500)
    graph = ConstraintGraph(500, two_groups=two_groups)
    for i, j in rng.integers(500, size=(600, 2)).tolist():
        if i != j:
            graph.add(i, j, SAME if labels[i] == labels[j] else DIFFERENT)
    result = constrained_assignment(rng.dirichlet(np.ones(2), 500), graph)
    assert result.n_violations > 0
    assert violated_answers(result.labels, graph) == []


def test_invalid_probabilities_raise() -> None:
    graph = ConstraintGraph(3)
    with pytest.raises(InvalidParameterError, match=r"with n_images=3, got \(2, 4\)"):
        constrained_assignment(np.ones((2, 4)), graph)
    with pytest.raises(InvalidParameterError, match="negative, infinite or NaN"):
        constrained_assignment(np.full((3, 2), np.nan), graph)


def test_unsatisfiable_single_images_do_not_merge_large_groups() -> None:
    graph = ConstraintGraph(27)
    for image in range(4, 24):
        graph.add(image % 4, image, SAME)
    for first, second in itertools.combinations(range(4), 2):
        graph.add(first, second, DIFFERENT)
    for single in range(24, 27):  # "none of these", where all groups were shown
        graph.tell(Answer(Question.choice(single, (0, 1, 2, 3), tuple("abcd")), "none"))
    probabilities = stream(0, "homeless").dirichlet(np.ones(4), 27)
    result = constrained_assignment(probabilities, graph)
    assert len(set(result.labels[:4].tolist())) == 4
    assert len(violated_answers(result.labels, graph)) == 3
