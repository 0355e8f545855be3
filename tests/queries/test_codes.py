import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.queries.codes import decode, distinct, encode


@given(st.lists(st.tuples(st.integers(0, 999_999), st.integers(0, 999_999)), max_size=20))
def test_codes_come_back_as_sorted_pairs(pairs: list[tuple[int, int]]) -> None:
    array = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    decoded = decode(encode(array, 1_000_000), 1_000_000)
    np.testing.assert_array_equal(decoded, np.sort(array, axis=1))


@given(st.lists(st.integers(-3, 3)))
def test_distinct_is_a_sorted_set(values: list[int]) -> None:
    assert distinct(np.array(values, dtype=np.intp)).tolist() == sorted(set(values))
