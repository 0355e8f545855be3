"""Questions that place one image after another among the groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import BAD_IMAGE, Answer, Question
from likewise.constraints.relation import Relation
from likewise.queries.at_random import Random
from likewise.queries.placing import placing_pairs
from likewise.queries.pool import Floats, Pool
from likewise.seeds import stream

SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
TRIANGLE = [(0, 1, DIFFERENT), (0, 2, DIFFERENT), (1, 2, DIFFERENT)]  # three groups of one image
Told = Sequence[tuple[int, int, Relation]]
MakePool = Callable[..., Pool]


class Prefers:
    """Scores a pair by the images that are wanted."""

    def __init__(self, *images: int) -> None:
        self.images = images

    def score(self, pool: Pool, pairs: np.typing.NDArray[np.intp]) -> Floats:
        return np.isin(pairs, self.images).any(axis=1).astype(float)


def asked(pool: Pool, n: int, strategy: object = None, seed: int = 0) -> list[list[int]]:
    rule = strategy or Random()
    found: list[list[int]] = placing_pairs(rule, pool, n, stream(seed)).tolist()  # type: ignore[arg-type]  # a double
    return found


def test_an_image_meets_every_group_the_nearest_first(make_pool: MakePool) -> None:
    pool = make_pool(n=12, told=TRIANGLE)
    pairs = asked(pool, 6, Prefers(7))
    away = np.linalg.norm(pool.embeddings[:3] - pool.embeddings[7], axis=1)
    assert pairs[:3] == [[int(group), 7] for group in np.argsort(away)]
    assert len({max(pair) for pair in pairs[3:]}) == 1  # then the next image


def test_images_begun_come_before_new_ones(make_pool: MakePool) -> None:
    told = [*TRIANGLE, (0, 5, SAME), (1, 6, SAME), (2, 8, SAME), (0, 9, DIFFERENT)]
    pairs = asked(make_pool(n=12, told=told), 2, Prefers(7))
    assert all(9 in pair for pair in pairs)


def test_groups_whose_relation_is_open_are_compared_first(make_pool: MakePool) -> None:
    told = [(0, 1, SAME), (2, 3, SAME), (4, 5, SAME), (0, 2, DIFFERENT)]
    pool = make_pool(n=12, told=told)
    first = asked(pool, 2, Prefers(7))
    assert all({pair[0] // 2, pair[1] // 2} in ({0, 2}, {1, 2}) for pair in first)


def test_before_the_first_answer_a_few_images_meet(make_pool: MakePool) -> None:
    pairs = asked(make_pool(n=40, k=3), 12)
    assert len(pairs) == 12
    assert len({image for pair in pairs for image in pair}) <= 6


@pytest.mark.parametrize("seed", range(6))
def test_nothing_known_bad_or_passed_of_late_is_asked(make_pool: MakePool, seed: int) -> None:
    rng = stream(seed)
    truth = rng.integers(3, size=30)
    told = [
        (int(i), int(j), SAME if truth[i] == truth[j] else DIFFERENT)
        for i, j in rng.integers(30, size=(25, 2))
        if i != j
    ]
    pool = make_pool(n=30, told=told, seed=seed)
    graph = pool.constraints
    assert isinstance(graph, ConstraintGraph)
    graph.tell(Answer(Question.label(11), BAD_IMAGE))
    first = asked(pool, 1, seed=seed)[0]
    passed = first[0], first[1]
    pairs = asked(replace(pool, passed=frozenset({passed})), 60, seed=seed)
    assert passed not in {tuple(pair) for pair in pairs}
    assert all(11 not in pair and pair[0] < pair[1] for pair in pairs)
    assert (graph.pair_relations(np.array(pairs)) == 0).all()
    assert len({tuple(pair) for pair in pairs}) == len(pairs)


def test_in_the_end_every_image_is_placed_with_at_most_k_answers_each(
    make_pool: MakePool,
) -> None:
    """With random pairs, most answers are "different" and tie nothing together."""
    pool, truth = make_pool(n=60, k=3), stream(1).integers(3, size=60)
    graph, n_answers = pool.constraints, 0
    assert isinstance(graph, ConstraintGraph)
    while len(pairs := asked(pool, 20, seed=n_answers)):
        for i, j in pairs:
            if graph.relation(i, j) == 0:
                graph.add(i, j, SAME if truth[i] == truth[j] else DIFFERENT)
                n_answers += 1
    assert len(np.unique(graph.groups())) == 3
    assert n_answers <= 3 * 60


def test_same_seed_same_questions(make_pool: MakePool) -> None:
    pool = make_pool(n=40, told=TRIANGLE)
    assert asked(pool, 10, seed=3) == asked(pool, 10, seed=3) != asked(pool, 10, seed=4)
