"""Fixtures: small pools."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.queries.base import FloatArray, Pool, join_views
from likewise.random_streams import stream

Answers = Sequence[tuple[int, int, Relation]]
MakePool = Callable[..., Pool]


def _unit_rows(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    rows: FloatArray = (
        rng.normal(size=(n, d)) + 0.7
    )  # similarities of both signs, more of them positive
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@pytest.fixture
def make_pool() -> MakePool:
    """Return a maker of pools of random embeddings in which some pairs were answered."""

    def make(
        n: int = 8, *, k: int = 3, seed: int = 0, answers: Answers = (), remaining: float = 0.5
    ) -> Pool:
        rng = stream(seed, "pool")
        views = _unit_rows(n, 4, rng), _unit_rows(n, 4, rng)
        graph = ConstraintGraph(n)
        for first, second, relation in answers:
            graph.add(first, second, relation)
        return Pool(
            embeddings=join_views(*views),
            probabilities=rng.dirichlet(np.ones(k), size=n),
            constraints=graph,
            previous=_unit_rows(n, 8, rng),
            remaining=remaining,
            views=views,
        )

    return make


@pytest.fixture
def pool(make_pool: MakePool) -> Pool:
    """Return a pool of eight images of which nothing is known."""
    return make_pool()
