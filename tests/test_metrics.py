"""Input validation, edge cases, published values, and confidence intervals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import InvalidParameterError
from likewise.metrics import (
    Scores,
    accuracy,
    expected_calibration_error,
    majority_accuracy,
    other_criterion_accuracy,
    score,
)
from likewise.random_streams import stream


@settings(deadline=None)  # two cores, many workers
@given(st.lists(st.sampled_from("abc"), min_size=1))
def test_one_cluster_for_everything_gives_the_majority_share(truth: list[str]) -> None:
    collapsed = score(truth, [7] * len(truth))
    assert collapsed.acc == collapsed.purity == majority_accuracy(truth)
    assert collapsed.ari == (1.0 if len(set(truth)) == 1 else 0.0)


def test_fewer_clusters_than_classes_leave_a_class_without_a_name() -> None:
    assert accuracy("aabbcc", [0, 0, 0, 0, 1, 1]) == 4 / 6


def test_more_clusters_than_classes_leave_images_without_a_name() -> None:
    assert accuracy("aaaabb", [0, 0, 0, 1, 2, 2]) == 5 / 6


def test_the_best_naming_is_not_the_greedy_one() -> None:
    """Greedy takes 4 of cluster 0 for class a, then 0; the best takes 3 and 3."""
    truth, found = "aaaabbbaaa", "0000000111"
    assert accuracy(truth, found) == 0.6


def test_numbers_that_no_image_has_do_not_count() -> None:
    found = np.array([900, 900, -5, -5])
    assert score([0, 0, 1, 1], found) == Scores(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def test_one_image_is_always_right_but_makes_no_pair() -> None:
    assert score(["a"], [3]) == Scores(nmi=1.0, ari=1.0, acc=1.0, fmi=0.0, pair_f1=0.0, purity=1.0)


def test_a_number_and_its_text_are_two_labels() -> None:
    assert majority_accuracy([1, "1", 1]) == 2 / 3


@pytest.mark.parametrize(
    "labels",
    [
        ["x", "y", "x"],
        ("x", "y", "x"),
        np.array(["x", "y", "x"]),
        np.array([1.5, 2.0, 1.5], dtype=np.float32),
        np.array([3, 200, 3], dtype=np.uint8),
        np.array([True, False, True]),
        np.array([("a", 1), ("b", 2), ("a", 1)], dtype=object)[:, 0],
        [None, (1, 2), None],
    ],
    ids=repr,
)
def test_any_kind_of_label_is_taken(labels: Any) -> None:
    assert score([0, 1, 0], labels).acc == 1.0


def test_the_items_of_a_tensor_are_compared_by_value() -> None:
    class Tensor:
        """Like torch's: items compare by identity in a dictionary, the whole becomes an array."""

        def __array__(self, dtype: object = None, copy: object = None) -> Any:
            return np.array([5, 6, 5])

        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> object:
            return object()

    assert accuracy([0, 1, 0], Tensor()) == 1.0  # type: ignore[arg-type]  # a stand-in for torch


def test_scores_come_by_name_in_a_fixed_order() -> None:
    scores = score([0, 0, 1], [0, 1, 1]).as_dict()
    assert list(scores) == ["nmi", "ari", "acc", "fmi", "pair_f1", "purity"]
    assert all(type(value) is float for value in scores.values())


def test_a_million_labels_do_not_overflow() -> None:
    rng = stream(0, "million")
    truth = rng.integers(2, size=1_000_000)
    found = np.where(rng.random(1_000_000) < 0.25, 1 - truth, truth)
    scores = score(truth, found)
    assert scores.acc == pytest.approx(0.75, abs=0.005)
    assert scores.ari == pytest.approx(0.25, abs=0.005)  # (2 acc - 1)^2 for two equal halves


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([1, 2, 3], [1, 2], "same length, got 3 and 2 labels"),
        ([], [], "truth must contain at least one label"),
        ([1], np.array([]), "found must contain at least one label"),
        (
            np.zeros((4, 2), dtype=int),
            [0] * 4,
            r"truth must have shape \(n,\), .* got shape \(4, 2\)",
        ),
        ([0, 1], [[0], [1]], r"found must contain hashable labels .* got \[0\]"),
        ([0, 1], [(0, []), 1], r"found must contain hashable labels .* got \(0, \[\]\)"),
        ([0, float("nan")], [0, 1], "truth must not contain NaN"),
        (np.array([0, np.nan]), [0, 1], "truth must not contain NaN"),
        (range(20_000), range(20_000), r"Too many classes \(20000\) and clusters \(20000\)"),
    ],
)
def test_invalid_labels_raises_a_clear_error(
    truth: Sequence[Any], found: Sequence[Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        score(truth, found)


def test_the_majority_of_nothing_raises_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="truth must contain at least one label"):
        majority_accuracy([])


CIFAR100_DEFAULT = {
    0: "apple beetle bicycle bowl clock cockroach crab cup dinosaur hamster keyboard lawn_mower "
    "orange orchid pear plate poppy rose spider sunflower sweet_pepper telephone tulip worm",
    1: "beaver bee butterfly camel caterpillar cattle crocodile elephant forest fox kangaroo "
    "leopard lion lizard lobster maple_tree motorcycle mouse mushroom oak_tree palm_tree "
    "pine_tree porcupine shrew snail snake squirrel tiger willow_tree",
    2: "bed bottle bridge bus can castle chair couch house lamp mountain pickup_truck plain road "
    "rocket sea skyscraper streetcar table tank television tractor train wardrobe",
    3: "aquarium_fish baby bear boy chimpanzee cloud dolphin flatfish girl man otter possum "
    "rabbit raccoon ray seal shark skunk trout turtle whale wolf woman",
}
CIFAR100_PERSONALISED = {
    0: "baby bear beaver boy camel cattle chimpanzee dolphin elephant fox girl kangaroo leopard "
    "lion man otter porcupine possum raccoon seal skunk tiger whale wolf woman",
    1: "aquarium_fish bee beetle butterfly caterpillar cockroach crab crocodile dinosaur flatfish "
    "hamster lizard lobster mouse rabbit shark shrew snail snake spider squirrel trout turtle worm",
    2: "apple cloud forest maple_tree mountain mushroom oak_tree orange orchid palm_tree pear "
    "pine_tree plain poppy ray rose sea sunflower sweet_pepper tulip willow_tree",
    3: "bed bicycle bottle bowl bridge bus can castle chair clock couch cup house keyboard lamp "
    "lawn_mower motorcycle pickup_truck plate road rocket skyscraper streetcar table tank "
    "telephone television tractor train wardrobe",
}


def by_class(groups: dict[int, str]) -> list[int]:
    """Return the group of each class, classes in alphabetical order."""
    group_of = {name: group for group, names in groups.items() for name in names.split()}
    assert len(group_of) == 100
    return [group_of[name] for name in sorted(group_of)]


MAPS = {
    "CIFAR10-2": ("0011111100", "0101110101", (0.021, 0.038, 0.538, 0.600)),
    "ImageNet10-2": ("0000011111", "0111010001", (0.029, 0.040, 0.520, 0.600)),
    "Dogs": ("000010011110100", "011100111001010", (0.080, 0.111, 0.565, 0.667)),
    "CIFAR100-4": (
        by_class(CIFAR100_DEFAULT),
        by_class(CIFAR100_PERSONALISED),
        (0.352, 0.285, 0.466, 0.560),
    ),
}


@pytest.mark.parametrize("name", MAPS)
def test_perfect_default_labels_score_as_published_on_the_personalised_map(name: str) -> None:
    default, personalised, published = MAPS[name]
    n_each = 1000  # pairs within a class count too: with few images FMI and ARI are others
    scores = score([*personalised] * n_each, [*default] * n_each)
    found = (scores.nmi, scores.ari, scores.fmi, scores.acc)
    assert tuple(round(value, 3) for value in found) == published


def test_the_best_other_criterion_is_used() -> None:
    default, truth, _ = MAPS["CIFAR10-2"]
    others = ["0" * 10, default, "0101110100"]
    assert other_criterion_accuracy(truth, others[:2]) == 0.6
    assert other_criterion_accuracy(truth, others) == 0.9
    assert other_criterion_accuracy(truth, []) is None


def naive_error(confidence: npt.NDArray[np.float64], right: npt.NDArray[np.bool_], n: int) -> float:
    """Bin by bin, each without its lower edge and with its upper one; by loops."""
    total = 0.0
    for b in range(n):
        low, high = b / n, (b + 1) / n
        inside = [(c, r) for c, r in zip(confidence, right, strict=True) if low < c <= high]
        if inside:
            gap = sum(r for _, r in inside) / len(inside) - sum(c for c, _ in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(gap)
    return total


@pytest.mark.parametrize("n_bins", [1, 4, 15])
def test_agrees_with_the_loop_over_bins(n_bins: int) -> None:
    rng = stream(0, "calibration")
    confidence, right = rng.random(200), rng.random(200) < 0.7
    ours = expected_calibration_error(confidence, right, n_bins)
    assert ours == pytest.approx(naive_error(confidence, right, n_bins))


def test_a_bin_holds_its_upper_edge() -> None:
    """In one bin, 0.4 and 0.5 with one right miss by 0.05; in two bins by 0.45."""
    assert expected_calibration_error([0.5, 0.4], [True, False], 2) == pytest.approx(0.05)


def test_certain_but_wrong_predictions_have_error_1() -> None:
    assert expected_calibration_error([1.0, 1.0], [False, False]) == 1.0
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0.0


@pytest.mark.parametrize(
    ("confidence", "right", "n_bins", "message"),
    [
        ([0.5], [True, False], 15, r"same shape .* got \(1,\) and \(2,\)"),
        ([], [], 15, "with n >= 1"),
        (
            [0.5, 1.2],
            [True, False],
            15,
            "confidence must be between 0 and 1, got values from 0.5 to 1.2",
        ),
        ([math.nan], [True], 15, "confidence must be between 0 and 1"),
        ([0.5], [True], 0, "n_bins must be an integer >= 1, got 0"),
    ],
)
def test_invalid_predictions_raise_an_error(
    confidence: list[float], right: list[bool], n_bins: int, message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        expected_calibration_error(confidence, right, n_bins)
