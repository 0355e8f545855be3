import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.queries.base import Pool
from likewise.queries.candidates import all_pairs
from likewise.queries.pcl import (
    ConnectedJoint,
    HardPairs,
    Joint,
    UncertainPairs,
    bernoulli_divergence,
    min_max,
)


def test_min_max_runs_from_0_to_1() -> None:
    assert min_max(np.array([3.0, -1.0, 1.0])).tolist() == [1, 0, 0.5]


def test_min_max_of_equal_values_and_of_none() -> None:
    assert min_max(np.array([2.0, 2.0])).tolist() == [0, 0]
    assert min_max(np.array([])).shape == (0,)


def test_divergence_of_values_computed_by_hand() -> None:
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.25, 1.0])
    far = 0.999 * math.log(0.999 / 0.001) + 0.001 * math.log(0.001 / 0.999)
    expected = [0, math.log(2) / 2 + math.log(2 / 3) / 2, far]
    assert bernoulli_divergence(p, q).tolist() == pytest.approx(expected)


PAIRS = all_pairs(np.arange(8))


def s_up_by_loops(pool: Pool, epsilon: float) -> list[float]:
    """Eq. (6) as it stands, by loops; s is averaged over the two views."""
    assert pool.views is not None
    a, b = pool.views
    raw = []
    for i, j in PAIRS:
        s = (sum(a[i] * a[j]) + sum(b[i] * b[j])) / 2
        raw.append(-abs(s - epsilon))
    return [(value - min(raw)) / (max(raw) - min(raw)) for value in raw]


def test_it_is_equation_6(pool: Pool) -> None:
    for epsilon in (0.2, 0.0, -0.3):
        np.testing.assert_allclose(
            UncertainPairs(epsilon).score(pool, PAIRS), s_up_by_loops(pool, epsilon), atol=1e-12
        )


def test_the_pair_nearest_to_epsilon_scores_1_and_the_farthest_0() -> None:
    angles = np.arccos([1.0, 0.2, 0.5])
    embeddings = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # s to the first: 1, .2, .5
    pool = Pool(embeddings, np.ones((3, 1)), ConstraintGraph(3))
    scores = UncertainPairs().score(pool, np.array([[0, 1], [0, 2]]))
    assert scores.tolist() == [1, 0]


SAME, DIFFERENT = Relation.SAME, Relation.DIFFERENT
ANSWERS = [(0, 1, SAME), (1, 2, DIFFERENT), (3, 4, DIFFERENT), (4, 5, DIFFERENT)]
MakePool = Callable[..., Pool]


def scaled(values: Sequence[float]) -> list[float]:
    return [(value - min(values)) / (max(values) - min(values)) for value in values]


def relations_of(pool: Pool) -> dict[tuple[int, int], int]:
    """All known relations, both ways round."""
    pairs = all_pairs(np.arange(pool.constraints.n_images))
    known = pool.constraints.pair_relations(pairs)
    table = {(int(i), int(j)): int(r) for (i, j), r in zip(pairs, known, strict=True)}
    return table | {(j, i): r for (i, j), r in table.items()}


def open_pairs(pool: Pool) -> list[tuple[int, int]]:
    return [pair for pair, known in relations_of(pool).items() if not known and pair[0] < pair[1]]


def pull(pool: Pool, i: int, j: int) -> tuple[float, int]:
    """Return sum_k A_jk s_ik and the number of terms."""
    relations, total, terms = relations_of(pool), 0.0, 0
    for k in range(pool.constraints.n_images):
        if k != j and relations[j, k]:
            total += relations[j, k] * float(pool.embeddings[i] @ pool.embeddings[k])
            terms += 1
    return total, terms


def eq7_by_loops(pool: Pool, tiny: float = 1e-3) -> list[float]:
    """Eq. (7) as printed, by loops."""
    pairs = open_pairs(pool)
    p = scaled([float(pool.embeddings[i] @ pool.embeddings[j]) for i, j in pairs])
    q = scaled([pull(pool, i, j)[0] for i, j in pairs])
    p, q = [max(value, tiny) for value in p], [max(value, tiny) for value in q]
    return scaled([a * math.log(a / b) for a, b in zip(p, q, strict=True)])


def bernoulli_by_loops(pool: Pool, tiny: float = 1e-3) -> list[float]:
    """The recommended score, by loops."""
    raw = []
    for i, j in open_pairs(pool):
        means = [total / n for total, n in (pull(pool, i, j), pull(pool, j, i)) if n]
        if not means:
            raw.append(0.0)
            continue
        p = (1 + float(pool.embeddings[i] @ pool.embeddings[j])) / 2
        q = (1 + sum(means) / len(means)) / 2
        p, q = (min(max(value, tiny), 1 - tiny) for value in (p, q))
        raw.append(p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)))
    return scaled(raw)


@pytest.mark.parametrize(
    ("hard", "loops"), [("eq7", eq7_by_loops), ("bernoulli", bernoulli_by_loops)]
)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_equation(
    make_pool: MakePool, hard: str, loops: Callable[[Pool], list[float]], seed: int
) -> None:
    pool = make_pool(seed=seed, answers=ANSWERS)
    scores = HardPairs(hard).score(pool, np.array(open_pairs(pool)))
    np.testing.assert_allclose(scores, loops(pool), atol=1e-10)
    assert scores.min() == 0
    assert scores.max() == 1


@pytest.mark.parametrize("hard", ["eq7", "bernoulli"])
def test_an_open_pair_changes_when_a_link_of_its_neighbour_changes(
    make_pool: MakePool, hard: str
) -> None:
    """Acceptance test 5 of the method specification; the authors' code fails it."""
    others = [[0, 6], [0, 7], [2, 5], [2, 7], [4, 6], [5, 7], [6, 7]]  # open all the time
    pairs = np.array([[0, 3], *others])
    nothing, same, different = (
        HardPairs(hard).score(make_pool(seed=3, answers=[(1, 2, DIFFERENT), *link]), pairs)[0]
        for link in ([], [(3, 4, SAME)], [(3, 4, DIFFERENT)])
    )
    assert len({round(float(score), 9) for score in (nothing, same, different)}) == 3


def test_a_pair_without_links_scores_nothing(make_pool: MakePool) -> None:
    pool = make_pool(answers=ANSWERS)
    scores = HardPairs().score(pool, np.array([[6, 7], [0, 6], [0, 3]]))
    assert scores[0] == 0
    assert (scores[1:] > 0).all()


def test_a_pair_whose_neighbours_contradict_it_is_hard() -> None:
    """0 and 1 look alike, but 1 was tied to an image opposite to 0: that is worth asking."""
    embeddings = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    graph = ConstraintGraph(5)
    graph.add(1, 2, SAME)  # says that 1 is like 2, and 0 is not like 2
    graph.add(3, 4, SAME)  # says what the similarity says too
    pool = Pool(embeddings, np.ones((5, 1)), graph)
    contradicted, confirmed = HardPairs().score(pool, np.array([[0, 1], [0, 3]]))
    assert contradicted == 1
    assert confirmed == 0


def test_an_unknown_form_raises_an_error_with_a_hint() -> None:
    with pytest.raises(
        UnknownNameError, match="'eq8' is not a known hard score; did you mean 'eq7'"
    ):
        HardPairs("eq8")


OPEN_PAIRS = np.array([[0, 2], [0, 3], [1, 4], [2, 5], [3, 6], [5, 7]])


@pytest.mark.parametrize("hard", ["bernoulli", "eq7"])
@pytest.mark.parametrize("r", [0.0, 0.25, 1.0])
def test_it_is_equation_8(make_pool: MakePool, hard: str, r: float) -> None:
    answers = [(0, 1, Relation.SAME), (2, 4, Relation.DIFFERENT)]
    pool = make_pool(answers=answers, remaining=r)
    s_up = UncertainPairs(0.1).score(pool, OPEN_PAIRS)
    s_hp = HardPairs(hard).score(pool, OPEN_PAIRS)
    expected = [r * up + (1 - r) * hp for up, hp in zip(s_up, s_hp, strict=True)]
    np.testing.assert_allclose(Joint(0.1, hard).score(pool, OPEN_PAIRS), expected, atol=1e-12)


def test_the_budget_moves_it_from_uncertain_to_hard(make_pool: MakePool) -> None:
    pool = make_pool(answers=[(0, 1, Relation.SAME), (2, 4, Relation.DIFFERENT)])
    first, last = (
        Joint().score(replace(pool, remaining=r), OPEN_PAIRS).argmax() for r in (1.0, 0.0)
    )
    assert first == UncertainPairs().score(pool, OPEN_PAIRS).argmax()
    assert last == HardPairs().score(pool, OPEN_PAIRS).argmax()
    assert first != last


def test_an_unknown_form_raises_an_error_before_the_first_question() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'bernoulli'"):
        Joint(hard="bernouli")


def test_pairs_that_join_large_components_are_preferred(make_pool: MakePool) -> None:
    answers = [
        (0, 1, Relation.SAME),
        (1, 2, Relation.DIFFERENT),  # 0, 1 and 2 are one component
        (3, 4, Relation.DIFFERENT),
    ]
    pool = make_pool(answers=answers)
    pairs = np.array([[0, 2], [5, 6], [5, 3], [5, 0], [3, 0]])
    gain = ConnectedJoint(connect=2.0).score(pool, pairs) - Joint().score(pool, pairs)
    sizes = np.log([1, 1, 2, 3, 6])  # 0 and 2 are connected already
    np.testing.assert_allclose(gain, 2 * sizes / sizes.max(), atol=1e-12)
    np.testing.assert_array_equal(
        ConnectedJoint(connect=0.0).score(pool, pairs), Joint().score(pool, pairs)
    )


def test_a_negative_weight_of_connections_raises_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="connect must be >= 0, got -1"):
        ConnectedJoint(connect=-1.0)
