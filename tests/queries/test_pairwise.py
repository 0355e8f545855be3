from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.queries import pairwise as similarity
from likewise.queries.base import BatchConstraints, Constraints, Pool
from likewise.queries.pairwise import (
    answer_components,
    known_groups,
    pair_products,
    relation_sums,
)
from likewise.random_streams import stream


@pytest.mark.parametrize("m", [0, 5, 400])  # few pairs go row by row, many through the table
@pytest.mark.parametrize("small", [0, 10_000])  # of which a large one is a matrix product
def test_products_are_those_of_the_rows(
    m: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "_BLOCK", 2)  # several parts, and an incomplete last one
    monkeypatch.setattr(similarity, "_SMALL", small)
    rng = stream(0)
    left, right = rng.normal(size=(9, 3)), rng.normal(size=(7, 3))
    rows, columns = rng.integers(9, size=m), rng.integers(7, size=m)
    expected = [sum(left[i] * right[j]) for i, j in zip(rows, columns, strict=True)]
    np.testing.assert_allclose(pair_products(left, rows, right, columns), expected, atol=1e-12)


def test_scores_have_double_precision_for_any_embeddings() -> None:
    rows = np.ones((3, 2), dtype=np.float32)
    for m in (1, 50):
        some = np.zeros(m, dtype=np.intp)
        assert pair_products(rows, some, rows, some).dtype == np.float64


SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
MakePool = Callable[..., Pool]
Answers = list[tuple[int, int, bool]]

answer_lists = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.booleans()), max_size=14)
labels = st.lists(st.integers(0, 8), max_size=4)


def graph_of(answers: Answers, labels: list[int], *, two_groups: bool) -> ConstraintGraph:
    graph = ConstraintGraph(9, two_groups=two_groups)
    for image in labels:
        graph.label(image, "abc"[image % 3])
    for first, second, is_same in answers:
        if first != second:
            graph.add(first, second, SAME if is_same else DIFFERENT)
    return graph


@given(answers=answer_lists, labels=labels, two_groups=st.booleans(), in_batch=st.booleans())
def test_sums_over_groups_equal_sums_over_the_matrix_of_relations(
    answers: Answers, labels: list[int], two_groups: bool, in_batch: bool
) -> None:
    graph = graph_of(answers, labels, two_groups=two_groups)
    constraints: Constraints = BatchConstraints(graph, np.arange(9)) if in_batch else graph
    z = stream(0).normal(size=(9, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    links = relation_sums(constraints, z)
    relations = graph.relations(np.arange(9))
    i, j = np.array([(i, j) for i in range(9) for j in range(9)]).T
    pulls = links.weighted_similarity(i, j)
    for place in range(81):
        by_hand = 0.0
        for k in range(9):
            by_hand += relations[j[place], k] * (z[i[place]] @ z[k])
        assert pulls[place] == pytest.approx(by_hand, abs=1e-9)
    np.testing.assert_array_equal(links.degrees, np.abs(relations).sum(axis=1))
    np.testing.assert_array_equal(links.groups.is_linked, np.abs(relations).any(axis=1))


def test_groups_are_numbered_from_zero_and_images_without_links_left_out(
    make_pool: MakePool,
) -> None:
    answers = [(1, 4, SAME), (4, 6, SAME), (2, 6, DIFFERENT)]
    groups = known_groups(make_pool(answers=answers).constraints)
    assert groups.of[[1, 4, 6]].tolist() == [groups.of[1]] * 3
    assert groups.of[[0, 3, 5, 7]].tolist() == [-1] * 4
    assert sorted(groups.sizes.tolist()) == [1, 3]
    assert {frozenset(pair) for pair in groups.cannot_links.tolist()} == {frozenset({0, 1})}


def test_one_label_gives_no_link_and_two_labels_do() -> None:
    graph = ConstraintGraph(9)
    graph.label(0, "red")
    assert not known_groups(graph).is_linked.any()
    graph.label(1, "blue")
    assert np.flatnonzero(known_groups(graph).is_linked).tolist() == [0, 1]


def test_memory_follows_the_answers_and_not_the_collection() -> None:
    n = 60_000
    graph = ConstraintGraph(n)
    for i in range(0, 2000, 2):
        graph.add(i, i + 1, SAME if i % 4 else DIFFERENT)
    z = np.zeros((n, 4), dtype=np.float32)
    links = relation_sums(graph, z)
    assert len(links.totals) == 1500
    assert links.totals.dtype == np.float32


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=15))
def test_components_are_those_of_the_answered_pairs(
    answers: list[tuple[int, int, bool]],
) -> None:
    graph, joined = ConstraintGraph(10), {i: {i} for i in range(10)}
    for i, j, is_same in answers:
        if i != j:
            graph.add(i, j, Relation.SAME if is_same else Relation.DIFFERENT)
            for image in (both := joined[i] | joined[j]):
                joined[image] = both
    component, sizes = answer_components(graph)
    for i in range(10):
        assert set(np.flatnonzero(component == component[i]).tolist()) == joined[i]
        assert sizes[component[i]] == len(joined[i])
