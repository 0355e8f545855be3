from collections.abc import Callable

import numpy as np
import pytest

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Relation
from likewise.errors import InvalidParameterError
from likewise.queries.candidates import all_pairs
from likewise.queries.pool import Pool, select
from likewise.queries.representative_difficult import RepresentativeDifficult
from likewise.seeds import stream

MakePool = Callable[..., Pool]
TWO = RepresentativeDifficult(n_candidates=2)


def two_clusters() -> Pool:
    """Return clusters 0-7 and 8-15 on a line, whose means lie at 5 and 13; 7 and 15 are far out."""
    line = np.array([-0.6, -0.4, -0.2, 0.0, 0.2, 0.5, 0.7, 4.0])
    places = np.concatenate([line, 100 + line])
    return Pool(places[:, None], np.repeat(np.eye(2), 8, axis=0), ConstraintGraph(16))


def test_the_first_question_is_about_the_middles_of_two_clusters() -> None:
    asked = select(TWO, two_clusters(), all_pairs(np.arange(16)), 1, stream(0))
    assert asked.tolist() == [[5, 13]]


def test_then_come_compact_images_far_from_the_middle() -> None:
    pool = two_clusters()
    assert isinstance(pool.constraints, ConstraintGraph)
    pool.constraints.add(5, 13, Relation.DIFFERENT)
    scores = TWO.score(pool, np.array([[0, 13], [7, 13], [1, 13], [4, 13]]))
    # 0 and 7 are the farthest; 0 has neighbours; 1 and 4 are nothing in particular.
    assert scores.tolist() == [0, -1, -3, -3]


def test_two_answered_images_come_last(make_pool: MakePool) -> None:
    same = Relation.SAME
    pool = make_pool(told=[(0, 1, same), (2, 3, same)])
    scores = RepresentativeDifficult().score(pool, all_pairs(np.arange(8)))
    answered = (all_pairs(np.arange(8)) < 4).all(axis=1)
    assert scores[answered].max() < scores[~answered].min()


def test_only_images_of_the_candidates_have_a_place() -> None:
    """Else nobody of a batch would be its cluster's representative."""
    scores = TWO.score(two_clusters(), np.array([[0, 9], [1, 9]]))
    assert scores.max() == 0


def test_no_candidates_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="n_candidates=0 leaves no image"):
        RepresentativeDifficult(n_candidates=0)
