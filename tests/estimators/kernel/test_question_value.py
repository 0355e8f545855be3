"""Expected information per second of a choice and of a grid, against loops and known values."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.constraints.question import GRID_SIZE, Question, person_seconds
from likewise.errors import InvalidParameterError
from likewise.estimators.kernel.likewise import Likewise
from likewise.estimators.kernel.question_value import best_grid, single_value
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream

Array = npt.NDArray[np.float64]


def h(p: float) -> float:
    return float(-p * np.log(p)) if p > 0 else 0.0


def test_the_information_is_0_for_a_certain_answer_and_log_k_for_a_uniform_one() -> None:
    question = Question.choice(0, (1, 2, 3, 4), tuple("abcd"))
    every = np.arange(4)
    certain = single_value(question, np.array([1, 0, 0, 0], np.float32), every)
    even = single_value(question, np.full(4, 0.25, np.float32), every)
    assert certain == pytest.approx(0, abs=1e-9)
    assert even == pytest.approx(np.log(4) / 2.3)  # seconds: 1.5 + .2 for each group


def test_groups_that_are_not_shown_are_one_answer() -> None:
    pair = Question.pair(0, 1)
    found = single_value(pair, np.array([0.5, 0.3, 0.2], np.float32), np.array([0]))
    assert found == pytest.approx(np.log(2) / 2.0)


def value_by_loops(p: Array, images: tuple[int, ...], group: int, exclusion: float) -> float:
    """Return the value of one grid, image by image."""
    information, seconds = 0.0, 1.5
    for image in images:
        q = float(p[image, group])
        information += 0.7 * (h(q) + exclusion * h(1 - q))
        seconds += 0.3 + 0.5 * (1 - q)
    return information / seconds


@given(st.integers(4, 7), st.integers(2, 4), st.integers(0, 99))
def test_the_best_grid_is_the_best_of_all_subsets(m: int, k: int, seed: int) -> None:
    p = stream(seed, "p").dirichlet(np.ones(k), size=m)
    exclusion = 0.25 if k > 2 else 1.0
    found = best_grid(p.astype(np.float32), k, k)
    assert found is not None
    values = [
        value_by_loops(p, images, group, exclusion)
        for size in range(4, m + 1)
        for images in itertools.combinations(range(m), size)
        for group in range(k)
    ]
    mine = value_by_loops(p, tuple(found.images.tolist()), found.group, exclusion)
    assert found.value == pytest.approx(mine, abs=1e-5)
    # Sorting by information per second is optimal up to the last image.
    assert mine >= 0.97 * max(values)


def test_a_grid_has_at_most_sixteen_images_and_needs_four() -> None:
    p = np.full((40, 2), 0.5, np.float32)
    found = best_grid(p, 2, 2)
    assert found is not None
    assert len(found.images) == GRID_SIZE
    assert best_grid(p[:3], 2, 2) is None
    assert best_grid(p, 0, 2) is None


def test_grids_reach_more_in_the_same_time_of_a_person() -> None:
    """Two groups: both outcomes of every image of a grid determine its group."""
    rng = stream(3, "blobs")
    y = rng.integers(2, size=400)
    X = 1.1 * rng.normal(size=(2, 20))[y] + rng.normal(size=(400, 20))
    n_labeled = []
    for kinds in ("pair,choice", "pair,choice,grid"):
        model, oracle, seconds = (
            Likewise(2, kinds=kinds, random_state=0).start(X),
            LabelOracle(y),
            0.0,
        )
        while seconds < 60:
            answers = oracle.answer(model.ask(1))
            model.tell([a.question for a in answers], answers)
            seconds += sum(person_seconds(a.question, len(a.ticked)) for a in answers)
            if model.n_answered_ in (3, 5, 8) or not model.n_answered_ % 10:
                model.train()
        n_labeled.append(model.n_determined_)
    assert n_labeled[1] > 2 * n_labeled[0]


def test_grids_alone_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="beside grid, got 'grid' only"):
        Likewise(2, kinds="grid").start(np.zeros((4, 2)))


def test_the_seconds_of_a_grid_are_those_of_its_value() -> None:
    grid = Question.grid((0, 1, 2, 3), 9, "a")
    assert person_seconds(grid, 2) == pytest.approx(1.5 + 4 * 0.3 + 2 * 0.5)
