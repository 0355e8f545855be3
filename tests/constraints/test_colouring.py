"""Colours against all colourings there are, slow on purpose."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.constraints import colour_search, colouring
from likewise.constraints.colour_search import Neighbours
from likewise.constraints.colouring import colour
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


@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_few_groups_get_the_best_colours_there_are(problem: tuple[int, int, Edges, int]) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = np.log(stream(seed, "scores").dirichlet(np.ones(n_colours), n_groups))
    colours = colour(scores, neighbours_of(n_groups, edges))
    best = best_total(scores, edges)
    if best > -np.inf:
        assert n_clashes(colours, edges) == 0
        assert total(scores, colours) == pytest.approx(best)


@settings(max_examples=150, deadline=None)
@given(problem=problems())
def test_without_the_exact_search_a_colouring_is_found_if_there_is_one(
    problem: tuple[int, int, Edges, int],
) -> None:
    n_groups, n_colours, edges, seed = problem
    scores = np.log(stream(seed, "scores").dirichlet(np.ones(n_colours), n_groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(colouring, "SMALL", 0)
        colours = colour(scores, neighbours_of(n_groups, edges))
    best = best_total(scores, edges)
    if best > -np.inf:
        assert n_clashes(colours, edges) == 0
        if n_colours == 2:  # exact whatever the size
            assert total(scores, colours) == pytest.approx(best)


def test_a_greedy_dead_end_is_left_by_the_search() -> None:
    # a wheel of five spokes and a hub needs four colours; scores lure it into a dead end
    rng = stream(0, "planted")
    n_groups, n_colours = 60, 3
    truth = rng.integers(n_colours, size=n_groups)
    couples = itertools.combinations(range(n_groups), 2)
    edges = {(a, b) for a, b in couples if truth[a] != truth[b] and rng.random() < 0.15}
    scores = rng.normal(size=(n_groups, n_colours))
    colours = colour(scores, neighbours_of(n_groups, edges))
    greedy = colouring._greedy(scores.tolist(), neighbours_of(n_groups, edges))
    assert n_clashes(greedy, edges) > 0
    assert n_clashes(colours, edges) == 0


def test_more_different_groups_than_colours_clash_as_little_as_can_be() -> None:
    edges = set(itertools.combinations(range(9), 2))
    scores = np.zeros((9, 3))
    assert n_clashes(colour(scores, neighbours_of(9, edges)), edges) == 3 * 3
    assert (
        n_clashes(
            colour(scores[:4], neighbours_of(4, {e for e in edges if max(e) < 4})),
            edges & set(itertools.combinations(range(4), 2)),
        )
        == 1
    )


def test_groups_that_nothing_ties_keep_their_favourite() -> None:
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    assert colour(scores, [[], [2], [1], []]) == [1, 0, 1, 0]


def test_the_search_gives_up_in_time() -> None:
    edges = {(a, b) for a, b in itertools.combinations(range(400), 2) if (a + b) % 7}
    assert colour_search.core_colours([[0.0] * 4] * 400, neighbours_of(400, edges)) is None
