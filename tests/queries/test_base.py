from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.graph import ConstraintGraph
from likewise.errors import InvalidParameterError, PoolExhaustedError
from likewise.queries.base import (
    FloatArray,
    Pool,
    Random,
    decode_pairs,
    encode_pairs,
    join_views,
    select,
    sorted_unique,
)
from likewise.queries.candidates import all_pairs
from likewise.random_streams import stream
from likewise.types import Pairs

CANDIDATES = all_pairs(np.arange(8))


class Fixed:
    """Scores that were decided beforehand."""

    def __init__(self, score: Callable[[Pairs], FloatArray]) -> None:
        self._score = score

    def score(self, pool: Pool, pairs: Pairs) -> FloatArray:
        return self._score(pairs)


def test_minus_infinity_is_never_asked(pool: Pool) -> None:
    only_first = Fixed(lambda pairs: np.where(pairs[:, 0] == 0, 1.0, -np.inf))
    asked = select(only_first, pool, CANDIDATES, 28, stream(0), allow_fewer=True)
    assert len(asked) == 7
    assert (asked[:, 0] == 0).all()


def test_scores_that_are_not_numbers_raise_an_error(pool: Pool) -> None:
    broken = Fixed(lambda pairs: np.where(pairs[:, 0] == 0, np.nan, 1.0))
    with pytest.raises(
        InvalidParameterError, match="returned NaN for 7 pairs; check the embeddings"
    ):
        select(broken, pool, CANDIDATES, 1, stream(0))


def test_scores_of_another_shape_raise_an_error(pool: Pool) -> None:
    broken = Fixed(lambda pairs: np.zeros((len(pairs), 2)))
    with pytest.raises(
        InvalidParameterError, match=r"must return shape \(28,\), one score per pair, got \(28, 2\)"
    ):
        select(broken, pool, CANDIDATES, 1, stream(0))


def test_fewer_than_no_questions_raise_an_error(pool: Pool) -> None:
    assert select(Random(), pool, CANDIDATES, 0, stream(0)).shape == (0, 2)
    with pytest.raises(InvalidParameterError, match="n must be >= 0, got -1"):
        select(Random(), pool, CANDIDATES, -1, stream(0))


@pytest.mark.parametrize(("pair", "wrong"), [((2, 8), "8"), ((-1, 3), "-1")])
def test_candidates_outside_the_collection_are_named(
    pool: Pool, pair: tuple[int, int], wrong: str
) -> None:
    with pytest.raises(InvalidParameterError, match=f"image indexes from 0 to 7, got {wrong}"):
        select(Random(), pool, np.array([pair]), 1, stream(0))


def test_pairs_with_itself_and_repetitions_do_not_count_as_candidates(pool: Pool) -> None:
    itself = np.stack([np.arange(8)] * 2, axis=1)
    candidates = np.concatenate([CANDIDATES, itself, CANDIDATES[:, ::-1]])
    with pytest.raises(PoolExhaustedError, match="only 28 of 28 candidate pairs"):
        select(Random(), pool, candidates, 29, stream(0))


def test_no_candidates_give_no_questions(pool: Pool) -> None:
    nothing = np.empty((0, 2), dtype=np.intp)
    assert select(Random(), pool, nothing, 3, stream(0), allow_fewer=True).shape == (0, 2)


def test_random_questions_are_uniform_over_the_open_pairs(pool: Pool) -> None:
    rng = stream(3)
    counts = np.zeros((8, 8))
    for _ in range(2800):
        ((i, j),) = select(Random(), pool, CANDIDATES, 1, rng)
        counts[i, j] += 1
    seen = counts[CANDIDATES[:, 0], CANDIDATES[:, 1]]
    assert ((seen - 100) ** 2 / 100).sum() < 55  # chi-squared, 27 degrees: p = .001


@pytest.mark.parametrize("name", ["embeddings", "probabilities", "previous"])
def test_rows_that_do_not_fit_the_collection_raise_an_error(pool: Pool, name: str) -> None:
    rows = {name: np.ones((7, 3))}
    with pytest.raises(
        InvalidParameterError,
        match=rf"{name} must have one row per image, shape \(8, d\), got shape \(7, 3\)",
    ):
        replace(pool, **rows)  # type: ignore[arg-type]  # one of three fields, by name


def test_a_share_of_the_budget_lies_between_none_and_all(pool: Pool) -> None:
    with pytest.raises(InvalidParameterError, match=r"remaining must be between 0 and 1, got 1\.5"):
        replace(pool, remaining=1.5)


def test_joined_views_average_the_similarities_of_both() -> None:
    rng = stream(0)
    a, b = rng.normal(size=(2, 5, 3))
    joined = join_views(a, b)
    np.testing.assert_allclose(joined @ joined.T, (a @ a.T + b @ b.T) / 2, atol=1e-12)
    assert join_views(a.astype("f4"), b.astype("f4")).dtype == np.float32


def test_many_passed_pairs_are_left_out_whichever_way_round_they_are_given() -> None:
    n = 300
    pool = Pool(np.zeros((n, 2)), np.zeros((n, 2)), ConstraintGraph(n))
    pairs = all_pairs(np.arange(n))
    left_out = stream(1).permutation(len(pairs))[:500]
    pool = replace(pool, passed=frozenset((int(j), int(i)) for i, j in pairs[left_out]))
    asked = select(Random(), pool, pairs, len(pairs), stream(0), allow_fewer=True)
    expected = np.delete(pairs, left_out, axis=0)
    np.testing.assert_array_equal(asked[np.lexsort(asked.T[::-1])], expected)


@given(st.lists(st.tuples(st.integers(0, 999_999), st.integers(0, 999_999)), max_size=20))
def test_decoded_pairs_are_sorted(pairs: list[tuple[int, int]]) -> None:
    array = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    decoded = decode_pairs(encode_pairs(array, 1_000_000), 1_000_000)
    np.testing.assert_array_equal(decoded, np.sort(array, axis=1))


@given(st.lists(st.integers(-3, 3)))
def test_distinct_is_a_sorted_set(values: list[int]) -> None:
    assert sorted_unique(np.array(values, dtype=np.intp)).tolist() == sorted(set(values))
