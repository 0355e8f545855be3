"""What goes in, what is refused, and the cases at the edge."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import InvalidParameterError
from likewise.metrics.baselines import majority_accuracy
from likewise.metrics.contingency import contingency
from likewise.metrics.matching import accuracy
from likewise.metrics.scores import Scores, score
from likewise.seeds import stream


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
    assert contingency([0, 0, 1, 1], found).found.tolist() == [2, 2]


def test_one_image_is_always_right_but_makes_no_pair() -> None:
    assert score(["a"], [3]) == Scores(nmi=1.0, ari=1.0, acc=1.0, fmi=0.0, pair_f1=0.0, purity=1.0)


def test_a_number_and_its_text_are_two_labels() -> None:
    assert contingency([1, "1", 1], [0, 0, 0]).truth.tolist() == [2, 1]


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
        ([1, 2, 3], [1, 2], "truth has 3 labels and found has 2; give one of each"),
        ([], [], "truth is empty; give the label"),
        ([1], np.array([]), "found is empty"),
        (np.zeros((4, 2), dtype=int), [0] * 4, r"truth has shape \(4, 2\); give one label"),
        ([0, 1], [[0], [1]], r"found holds \[0\], which cannot be a label"),
        ([0, 1], [(0, []), 1], r"found holds \(0, \[\]\), which cannot be a label"),
        ([0, float("nan")], [0, 1], "truth holds NaN, a missing label"),
        (np.array([0, np.nan]), [0, 1], "truth holds NaN, a missing label"),
        (range(20_000), range(20_000), "20000 classes against 20000 clusters are too many"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_words(
    truth: Sequence[Any], found: Sequence[Any], message: str
) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        score(truth, found)


def test_the_majority_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="truth is empty"):
        majority_accuracy([])
