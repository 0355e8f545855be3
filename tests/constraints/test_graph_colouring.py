"""Graph colouring, compared with an exhaustive search."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from likewise.constraints import graph_colouring
from likewise.constraints.graph_colouring import (
    Neighbours,
    colour_graph,
    exact_colours,
    greedy_colours,
    repair,
    swap_for_gain,
)
from likewise.random_streams import stream

Edges = set[tuple[int, int]]


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, int, Edges, int]:
    """Numbers of groups and colours, the cannot-links, and a seed for the scores."""
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
    """The largest sum of scores over all colourings without a clash, or minus infinity."""
    everything = itertools.product(range(scores.shape[1]), repeat=len(scores))
    totals = [total(scores, c) for c in everything if not n_clashes(c, edges)]
    return max(totals, default=-np.inf)


def total(scores: np.ndarray, colours: list[int] | tuple[int, ...]) -> float:
    return float(scores[np.arange(len(scores)), list(colours)].sum())


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_small_parts_get_the_best_colours(problem: tuple[int, int, Edges, int]) -> None:
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
def test_the_exact_search_finds_the_best_colours_or_none(
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
def test_the_exact_search_stops_after_max_nodes(
    monkeypatch: pytest.MonkeyPatch, steps: int, found: list[int] | None
) -> None:
    """Four groups without cannot-links: a root node and one for each."""
    monkeypatch.setattr(graph_colouring, "MAX_NODES", steps)
    assert exact_colours([[0.0, 1.0]] * 4, [[], [], [], []]) == found


def test_a_small_part_is_solved_exactly_where_swaps_reach_a_local_optimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores = stream(6, "stuck").normal(size=(6, 3))
    ring = {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)}
    best = best_total(scores, ring)
    assert total(scores, colour_graph(scores, neighbours_of(6, ring))) == pytest.approx(best)
    monkeypatch.setattr(graph_colouring, "MAX_EXACT", 0)
    assert total(scores, colour_graph(scores, neighbours_of(6, ring))) < best - 0.1


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_without_the_exact_search_a_colouring_without_clash_is_found(
    problem: tuple[int, int, Edges, int],
) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = np.log(stream(seed, "scores").dirichlet(np.ones(n_colours), n_groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_colouring, "MAX_EXACT", 0)
        colours = colour_graph(scores, neighbours_of(n_groups, edges))
    best = best_total(scores, edges)
    if best > -np.inf:
        assert n_clashes(colours, edges) == 0
        if n_colours == 2:  # exact for any size
            assert total(scores, colours) == pytest.approx(best)


def planted(n_groups: int, n_colours: int, density: float) -> tuple[Edges, np.ndarray]:
    """Edges that allow a colouring without a clash, and scores independent of it."""
    rng = stream(0, "planted", n_groups, n_colours)
    truth = rng.integers(n_colours, size=n_groups)
    couples = itertools.combinations(range(n_groups), 2)
    edges = {(a, b) for a, b in couples if truth[a] != truth[b] and rng.random() < density}
    return edges, rng.normal(size=(n_groups, n_colours))


def test_clashes_of_the_greedy_colours_are_repaired() -> None:
    edges, scores = planted(150, 4, 0.064)
    neighbours = neighbours_of(150, edges)
    greedy = greedy_colours(scores.tolist(), neighbours)
    assert n_clashes(greedy, edges) > 0
    repaired = repair(greedy, scores.tolist(), neighbours)
    assert n_clashes(repaired, edges) == 0
    assert repaired == repair(greedy, scores.tolist(), neighbours)


def test_a_group_with_one_colour_left_is_coloured_first() -> None:
    path = neighbours_of(4, {(0, 1), (1, 2), (2, 3)})
    assert greedy_colours([[9.0, 0.0], [0.0, 0.1], [0.0, 0.1], [8.0, 0.0]], path) == [0, 1, 0, 1]


def test_a_repair_that_is_stopped_early_is_not_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, scores = planted(60, 3, 0.15)
    greedy = greedy_colours(scores.tolist(), neighbours_of(60, edges))
    monkeypatch.setattr(graph_colouring, "MAX_MOVES", 1)
    once = repair(greedy, scores.tolist(), neighbours_of(60, edges))
    assert 0 < n_clashes(once, edges) <= n_clashes(greedy, edges)
    assert sum(a != b for a, b in zip(greedy, once, strict=True)) <= 1


@pytest.mark.parametrize(("n_groups", "least"), [(4, 1), (9, 3 * 3)])
def test_more_different_groups_than_colours_have_the_fewest_clashes(
    n_groups: int, least: int
) -> None:
    edges = set(itertools.combinations(range(n_groups), 2))
    colours = colour_graph(np.zeros((n_groups, 3)), neighbours_of(n_groups, edges))
    assert n_clashes(colours, edges) == least


def test_groups_without_a_clash_keep_their_best_colour() -> None:
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    assert colour_graph(scores, [[], [2], [1], []]) == [1, 0, 1, 0]


def test_a_swap_that_another_makes_possible_is_made_in_the_next_sweep() -> None:
    """Colour 1 is best for group 0, and group 1 leaves it for colour 2 only later in the sweep."""
    scores = [[2.0, 3.0, 0.0], [0.0, 3.0, 4.0]]
    assert swap_for_gain([0, 1], scores, [[1], [0]]) == [1, 2]


def test_a_clique_of_any_size_is_an_assignment_problem() -> None:
    n = 40
    scores = stream(0, "a matching").normal(size=(n, n))
    order = stream(0, "an order").permutation(n)
    scores[np.arange(n), order] += 0.5  # not the best of every row
    colours = colour_graph(scores, neighbours_of(n, set(itertools.combinations(range(n), 2))))
    _, best = linear_sum_assignment(scores, maximize=True)
    assert sorted(colours) == list(range(n))
    assert total(scores, colours) == pytest.approx(total(scores, best.tolist()))


def test_a_long_ring_is_coloured_with_two_colours() -> None:
    n = 1200
    ring = {(a, a + 1) for a in range(n - 1)} | {(0, n - 1)}
    neighbours: Neighbours = [[(a - 1) % n, (a + 1) % n] for a in range(n)]
    scores = stream(0, "ring").normal(size=(n, 2))
    assert n_clashes(colour_graph(scores, neighbours), ring) == 0
