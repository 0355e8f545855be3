"""Pairs of groups that differ, with their images counted, against plain counting."""

from collections import Counter
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from likewise.constraints.apart import Apart

from likewise.constraints import apart

N = 8
groups = st.integers(0, N - 1)
couples = st.tuples(groups, groups).filter(lambda pair: pair[0] != pair[1])
moves = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["join", "join", "part", "absorb", "absorb"]), couples),
        st.tuples(st.just("resize"), st.tuples(groups, st.integers(0, 4))),
    ),
    max_size=40,
)


@pytest.mark.parametrize("crowded", [0, 1, 2])
@settings(max_examples=200, deadline=None)
@given(script=moves)
def test_weights_are_those_of_plain_counting(
    crowded: int, script: list[tuple[str, tuple[int, int]]]
) -> None:
    pairs, facts, sizes = Apart(), Counter[frozenset[int]](), dict.fromkeys(range(N), 1)
    with mock.patch.object(apart, "CROWDED", crowded):
        for move, (first, second) in script:
            couple = frozenset((first, second))
            if move == "join":
                assert pairs.join(first, second) == (couple not in facts)
                facts[couple] += 1
            elif move == "part" and couple in facts:
                pairs.part(first, second)
                facts -= Counter([couple])
            elif move == "absorb" and couple not in facts:
                shared = [
                    g for g in range(N) if {frozenset((g, x)) for x in couple} <= facts.keys()
                ]
                assert pairs.absorb(first, second) == sum(sizes[group] for group in shared)
                moved = [other for other in facts if second in other]
                for other in moved:
                    facts[other - {second} | {first}] += facts.pop(other)
            elif move == "resize":
                pairs.resize(first, second)
                sizes[first] = second
            check(pairs, facts, sizes)
            assert {g for g, row in pairs.rows.items() if len(row) > crowded} <= set(pairs._near)
            check(pairs.copy(), facts, sizes)


def check(pairs: Apart, facts: Counter[frozenset[int]], sizes: dict[int, int]) -> None:
    for group in range(N):
        row = {sum(couple) - group: n for couple, n in facts.items() if group in couple}
        assert pairs.rows.get(group, {}) == row
        assert pairs.weight(group) == sum(sizes[other] for other in row)


def test_a_copy_is_changed_alone() -> None:
    pairs = Apart()
    pairs.join(0, 1)
    pairs.resize(1, 5)
    twin = pairs.copy()
    twin.resize(1, 7)
    twin.join(0, 2)
    assert (pairs.weight(0), twin.weight(0)) == (5, 8)


def test_a_crowded_group_counts_what_another_brings_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "CROWDED", 1)
    pairs = Apart()
    for first, second in [(0, 1), (0, 2), (4, 3)]:
        pairs.join(first, second)
    assert pairs.absorb(0, 4) == 0
    assert pairs.weight(0) == 3  # 1, 2 and now 3


def test_a_crowded_group_counts_neighbours_that_become_one_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "CROWDED", 1)
    pairs = Apart()
    for neighbour in (1, 2, 3):
        pairs.join(0, neighbour)
    assert pairs.absorb(1, 2) == 1  # both were different from 0
    assert pairs.weight(0) == 2
