"""Colours against all colourings there are, slow on purpose."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from likewise.constraints.colour_mend import mend
from likewise.constraints.colour_search import Neighbours, core_colours, exact_colours
from likewise.constraints.colour_swaps import swap_for_gain
from scipy.optimize import linear_sum_assignment

from likewise.constraints import colour_mend, colour_search, graph_colouring
from likewise.constraints.graph_colouring import colour_graph, greedy_colours
from likewise.seeds import stream

Edges = set[tuple[int, int]]


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, int, Edges, int]:
    """Some groups, colours, which groups differ, and a seed for the scores."""
    n_groups, n_colours = draw(st.integers(1, 7)), draw(st.integers(2, 4))
    couples = list(itertools.combinations(range(n_groups), 2))
    edges = draw(st.sets(st.sampled_from(couples))) if couples else set()
    return n_groups, n_colours, edges, draw(st.integers(0, 10**6))


def neighbours_of(n_groups: int, edges: Edges) -> Neighbours:
    return [
        [a if b == group else b for a, b in sorted(edges) if group in (a, b)]
        for group in range(n_groups)
    ]


def n_clashes(colours: list[int] | tuple[int, ...], edges: Edges) -> int:
    return sum(colours[a] == colours[b] for a, b in edges)


def best_total(scores: np.ndarray, edges: Edges) -> float:
    """The largest sum over all colourings without a clash, minus infinity if there is none."""
    everything = itertools.product(range(scores.shape[1]), repeat=len(scores))
    totals = [total(scores, c) for c in everything if not n_clashes(c, edges)]
    return max(totals, default=-np.inf)


def total(scores: np.ndarray, colours: list[int] | tuple[int, ...]) -> float:
    return float(scores[np.arange(len(scores)), list(colours)].sum())


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_few_groups_get_the_best_colours_there_are(problem: tuple[int, int, Edges, int]) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = np.log(stream(seed, "scores").dirichlet(np.ones(n_colours), n_groups))
    colours = colour_graph(scores, neighbours_of(n_groups, edges))
    best = best_total(scores, edges)
    if best > -np.inf:
        assert n_clashes(colours, edges) == 0
        assert total(scores, colours) == pytest.approx(best)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(problem=problems())
def test_the_exact_search_finds_the_best_or_says_there_is_none(
    problem: tuple[int, int, Edges, int],
) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = stream(seed, "scores").normal(size=(n_groups, n_colours))
    found, best = (
        exact_colours(scores.tolist(), neighbours_of(n_groups, edges)),
        best_total(scores, edges),
    )
    assert (found is None) == (best == -np.inf)
    if found is not None:
        assert n_clashes(found, edges) == 0
        assert total(scores, found) == pytest.approx(best)


@pytest.mark.parametrize(("steps", "found"), [(5, [1, 1, 1, 1]), (4, None)])
def test_the_exact_search_gives_up_in_time(
    monkeypatch: pytest.MonkeyPatch, steps: int, found: list[int] | None
) -> None:
    """Four groups that nothing ties: one step to begin with, and one for each."""
    monkeypatch.setattr(colour_search, "MAX_STEPS", steps)
    assert exact_colours([[0.0, 1.0]] * 4, [[], [], [], []]) == found


def test_a_small_part_is_solved_exactly_where_swaps_get_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = stream(6, "stuck").normal(size=(6, 3))
    ring = {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)}
    best = best_total(scores, ring)
    assert total(scores, colour_graph(scores, neighbours_of(6, ring))) == pytest.approx(best)
    monkeypatch.setattr(graph_colouring, "SMALL", 0)
    assert total(scores, colour_graph(scores, neighbours_of(6, ring))) < best - 0.1


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_without_the_exact_search_a_colouring_is_found_if_there_is_one(
    problem: tuple[int, int, Edges, int],
) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = np.log(stream(seed, "scores").dirichlet(np.ones(n_colours), n_groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_colouring, "SMALL", 0)
        colours = colour_graph(scores, neighbours_of(n_groups, edges))
    best = best_total(scores, edges)
    if best > -np.inf:
        assert n_clashes(colours, edges) == 0
        if n_colours == 2:  # exact whatever the size
            assert total(scores, colours) == pytest.approx(best)


def planted(n_groups: int, n_colours: int, density: float) -> tuple[Edges, np.ndarray]:
    """Edges that some colouring without clash allows, and scores that know nothing of it."""
    rng = stream(0, "planted", n_groups, n_colours)
    truth = rng.integers(n_colours, size=n_groups)
    couples = itertools.combinations(range(n_groups), 2)
    edges = {(a, b) for a, b in couples if truth[a] != truth[b] and rng.random() < density}
    return edges, rng.normal(size=(n_groups, n_colours))


def test_a_greedy_dead_end_is_mended() -> None:
    edges, scores = planted(150, 4, 0.064)
    neighbours = neighbours_of(150, edges)
    greedy = greedy_colours(scores.tolist(), neighbours)
    assert n_clashes(greedy, edges) > 0
    mended = mend(greedy, scores.tolist(), neighbours)
    assert n_clashes(mended, edges) == 0
    assert mended == mend(greedy, scores.tolist(), neighbours)


def test_a_group_with_one_colour_left_goes_before_those_who_care_more() -> None:
    path = neighbours_of(4, {(0, 1), (1, 2), (2, 3)})
    assert greedy_colours([[9.0, 0.0], [0.0, 0.1], [0.0, 0.1], [8.0, 0.0]], path) == [0, 1, 0, 1]


def test_mending_does_without_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, scores = planted(150, 4, 0.064)
    monkeypatch.setattr(colour_search, "MAX_STEPS", 0)
    assert n_clashes(colour_graph(scores, neighbours_of(150, edges)), edges) == 0


def test_groups_with_few_neighbours_are_taken_away_again_and_again_before_the_search() -> None:
    n_hubs = colour_search.MAX_CORE + 10  # a path of them, each with three groups of its own
    hubs = {(hub, hub + 1) for hub in range(n_hubs - 1)}
    edges = hubs | {(hub, n_hubs + 3 * hub + i) for hub in range(n_hubs) for i in range(3)}
    neighbours: Neighbours = [[] for _ in range(4 * n_hubs)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    found = core_colours([[0.0, 0.0]] * (4 * n_hubs), neighbours)
    assert found is not None
    assert n_clashes(found, edges) == 0


def test_what_cannot_be_mended_in_time_is_left_no_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, scores = planted(60, 3, 0.15)
    greedy = greedy_colours(scores.tolist(), neighbours_of(60, edges))
    monkeypatch.setattr(colour_mend, "MAX_LOOKS", 1)
    once = mend(greedy, scores.tolist(), neighbours_of(60, edges))
    assert 0 < n_clashes(once, edges) <= n_clashes(greedy, edges)
    assert sum(a != b for a, b in zip(greedy, once, strict=True)) <= 1


def test_the_core_is_searched_where_mending_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, scores = planted(60, 3, 0.15)
    monkeypatch.setattr(colour_mend, "MAX_LOOKS", 0)
    assert n_clashes(colour_graph(scores, neighbours_of(60, edges)), edges) == 0
    monkeypatch.setattr(colour_search, "MAX_STEPS", 2)
    assert n_clashes(colour_graph(scores, neighbours_of(60, edges)), edges) > 0  # gave up in time


def test_the_search_says_when_there_is_nothing_to_find() -> None:
    ring = neighbours_of(5, {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)})
    assert core_colours([[0.0, 0.0]] * 5, ring) is None
    assert core_colours([[0.0, 0.0, 0.0]] * 5, ring) is not None


@pytest.mark.parametrize(("n_groups", "least"), [(4, 1), (9, 3 * 3)])
def test_more_different_groups_than_colours_clash_as_little_as_can_be(
    n_groups: int, least: int
) -> None:
    edges = set(itertools.combinations(range(n_groups), 2))
    colours = colour_graph(np.zeros((n_groups, 3)), neighbours_of(n_groups, edges))
    assert n_clashes(colours, edges) == least


def test_groups_that_nothing_ties_keep_their_favourite() -> None:
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    assert colour_graph(scores, [[], [2], [1], []]) == [1, 0, 1, 0]


def test_a_swap_that_another_makes_possible_is_made_in_the_next_sweep() -> None:
    """Group 0 wants colour 1, which group 1 leaves for colour 2 only after it was asked."""
    scores = [[2.0, 3.0, 0.0], [0.0, 3.0, 4.0]]
    assert swap_for_gain([0, 1], scores, [[1], [0]]) == [1, 2]


def test_groups_that_all_differ_are_matched_with_colours_whatever_their_number() -> None:
    n = 40
    scores = stream(0, "a matching").normal(size=(n, n))
    order = stream(0, "an order").permutation(n)
    scores[np.arange(n), order] += 0.5  # not every row's favourite
    colours = colour_graph(scores, neighbours_of(n, set(itertools.combinations(range(n), 2))))
    _, best = linear_sum_assignment(scores, maximize=True)
    assert sorted(colours) == list(range(n))
    assert total(scores, colours) == pytest.approx(total(scores, best.tolist()))


def test_a_core_too_large_to_search_is_left_to_the_other_means() -> None:
    n = 1200  # deeper than Python's stack allows
    ring = {(a, a + 1) for a in range(n - 1)} | {(0, n - 1)}
    neighbours: Neighbours = [[(a - 1) % n, (a + 1) % n] for a in range(n)]
    scores = stream(0, "ring").normal(size=(n, 2))
    assert core_colours(scores.tolist(), neighbours) is None
    assert n_clashes(colour_graph(scores, neighbours), ring) == 0
