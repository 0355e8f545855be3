from typing import Any

import numpy as np
import pytest

from likewise.constraints.question import KINDS
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise_bench.datasets.base import Dataset
from likewise_bench.spec import RunSpec, split_parts


def _toy(n: int = 100, *, official: bool = True) -> Dataset:
    parts: dict[str, Any] = (
        {"train": np.arange(n * 3 // 4), "test": np.arange(n * 3 // 4, n)} if official else {}
    )
    labels = np.array(["a", "b"] * (n // 2))
    return Dataset("toy", {"letter": labels}, vectors=np.zeros((n, 2), np.float32), **parts)


def _run(**changes: Any) -> RunSpec:
    return RunSpec("kmeans", dataset="toy", **changes)


def test_transductive_clusters_all_images() -> None:
    train, test = split_parts(_run(), _toy())
    assert train.tolist() == list(range(100))
    assert len(test) == 0


@pytest.mark.parametrize(("split", "first", "last"), [("train", 0, 74), ("test", 75, 99)])
def test_one_part_of_the_official_split_can_be_the_collection(
    split: str, first: int, last: int
) -> None:
    train, test = split_parts(_run(split=split), _toy())
    assert (train[0], train[-1], len(test)) == (first, last, 0)


def test_inductive_uses_the_official_split() -> None:
    train, test = split_parts(_run(protocol="inductive"), _toy())
    assert (train[-1], test[0]) == (74, 75)


def test_inductive_holds_out_a_fraction_without_an_official_split() -> None:
    train, test = split_parts(_run(protocol="inductive"), _toy(official=False))
    assert (len(train), len(test)) == (80, 20)
    assert sorted([*train, *test]) == list(range(100))
    run = _run(protocol="inductive", test_fraction=0.3, split="train")
    train, test = split_parts(run, _toy())
    assert (len(train), len(test)) == (53, 22)
    assert max(*train, *test) == 74


def test_held_out_images_depend_only_on_the_seed() -> None:
    toy = _toy(official=False)
    one, again = (split_parts(_run(protocol="inductive", seed=1), toy).test for _ in range(2))
    other = split_parts(_run(protocol="inductive", seed=2), toy).test
    assert one.tolist() == again.tolist()
    assert one.tolist() != other.tolist()


def test_a_limit_takes_the_same_images_for_every_seed() -> None:
    runs = [_run(protocol="inductive", n_images=30, n_test=10, seed=seed) for seed in (0, 1)]
    (train, test), (other_train, other_test) = (split_parts(run, _toy()) for run in runs)
    assert (len(train), len(test)) == (30, 10)
    assert train.tolist() == other_train.tolist()
    assert test.tolist() == other_test.tolist()
    assert max(train) < 75 <= min(test)


@pytest.mark.parametrize(
    ("changes", "n_synthetic"),
    [
        ({}, None),
        ({"n_images": 100}, 100),
        ({"n_images": 80, "protocol": "inductive"}, 100),
        ({"n_images": 80, "n_test": 40, "protocol": "inductive"}, 120),
    ],
)
def test_a_synthetic_data_set_is_as_large_as_needed(
    changes: dict[str, Any], n_synthetic: int | None
) -> None:
    run = _run(**changes)
    assert run.n_synthetic == n_synthetic
    if n_synthetic is not None:
        parts = split_parts(run, _toy(n_synthetic, official=False))
        assert len(parts.train) == changes["n_images"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_questions": -1}, "n_questions must be >= 0, got -1"),
        ({"seconds": -0.5}, "seconds must be >= 0, got -0.5"),
        ({"noise": 1.5}, "noise must be between 0 and 1, got 1.5"),
        ({"unsure": -0.1}, "unsure must be between 0 and 1, got -0.1"),
        ({"test_fraction": 0.2}, "need the inductive protocol"),
        ({"n_test": 5}, "need the inductive protocol"),
        (
            {"protocol": "inductive", "test_fraction": 1.0},
            "test_fraction must be between 0 and 1, ",
        ),
        ({"images": "x", "labels": "y"}, "Give either the name of a data set"),
        ({"images": "x"}, "images and labels must be given together"),
        ({"dataset": None}, "Give either the name of a data set"),
        ({"from_scratch": True, "encoder": "bundled"}, "encoder='bundled' is not used"),
    ],
)
def test_invalid_parameters_are_rejected_before_loading(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        RunSpec(**{"method": "kmeans", "dataset": "toy", **changes})


def test_every_kind_of_question_may_be_allowed() -> None:
    assert _run(kinds=("pair", "choice", "grid", "label")).kinds == KINDS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": "inductiv"}, "'inductiv' is not a known protocol; did you mean 'inductive'"),
        ({"split": "tests"}, "'tests' is not a known split; did you mean 'test'"),
        ({"kinds": ("pairs",)}, "'pairs' is not a known kind of question; did you mean 'pair'"),
    ],
)
def test_misspelt_names_get_a_suggestion(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        _run(**changes)


def test_a_data_set_without_a_split_raises_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="split='test' needs an official split, which "):
        split_parts(_run(split="test"), _toy(official=False))


@pytest.mark.parametrize("n_images", [0, 101])
def test_a_limit_above_the_number_of_images_is_rejected(n_images: int) -> None:
    with pytest.raises(InvalidParameterError, match=f"between 1 and 100, got {n_images}"):
        split_parts(_run(n_images=n_images), _toy())


def test_training_and_test_need_at_least_one_image() -> None:
    with pytest.raises(InvalidParameterError, match="got 0 and 4 of 4 images"):
        split_parts(_run(protocol="inductive", n_test=4), _toy(4, official=False))
