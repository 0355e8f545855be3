from datetime import date

import numpy as np
import pytest

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.oracles.labels import LabelOracle


def said(labels: object, *questions: Question) -> list[str]:
    return [a.answer for a in LabelOracle(labels).answer(questions)]  # type: ignore[arg-type]  # any


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "a"],
        np.array(["a", "b", "a"]),
        [0, 7, 0],
        np.array([0, 7, 0], dtype=np.uint8),
        np.array([0.5, 2.0, 0.5]),
        [True, False, True],
        [date(2020, 1, 1), date(2021, 1, 1), date(2020, 1, 1)],
        [("a", 1), ("a", 2), ("a", 1)],
    ],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_any_label_is_compared_as_itself(labels: object) -> None:
    assert said(labels, Question.pair(0, 2), Question.pair(0, 1)) == ["same", "different"]


@pytest.mark.parametrize("missing", [None, float("nan"), -1, "", np.int64(-1), np.float32("nan")])
def test_of_an_image_without_a_label_nothing_can_be_told(missing: object) -> None:
    questions = [
        Question.pair(0, 1),
        Question.pair(1, 2),
        Question.label(1),
        Question.choice(1, (0,), ("g",)),
    ]
    assert said(["a", missing, missing], *questions) == ["cannot_tell"] * 4


def test_a_label_is_told_by_its_name() -> None:
    assert said([3, "x y", 2.5], *map(Question.label, range(3))) == ["3", "x y", "2.5"]


def test_zero_and_false_are_labels() -> None:
    assert said([0, 1], Question.label(0)) == ["0"]
    assert said([False, True], Question.label(0)) == ["False"]


@pytest.mark.parametrize("word", ["none", "new", "same", "cannot_tell"])
def test_a_label_that_is_a_word_of_ours_is_told_in_two_words(word: str) -> None:
    assert said([word, "b"], Question.label(0), Question.pair(0, 1)) == [
        f"label {word}",
        "different",
    ]


class TestChoice:
    LABELS = ("red", "blue", "green", "red", None)

    def test_the_group_of_the_same_label_is_chosen(self) -> None:
        assert said(self.LABELS, Question.choice(3, (1, 0), ("cold", "warm"))) == ["warm"]

    def test_none_where_no_group_fits(self) -> None:
        assert said(self.LABELS, Question.choice(2, (1, 0), ("cold", "warm"))) == ["none"]

    def test_two_groups_of_one_label_leave_no_true_answer(self) -> None:
        labels = ["red", "red", "red"]
        assert said(labels, Question.choice(2, (0, 1), ("one", "two"))) == ["cannot_tell"]

    def test_a_group_without_a_label_matters_only_if_no_other_fits(self) -> None:
        assert said(self.LABELS, Question.choice(3, (4, 0), ("x", "warm"))) == ["warm"]
        assert said(self.LABELS, Question.choice(2, (4, 0), ("x", "warm"))) == ["cannot_tell"]


@pytest.mark.parametrize("image", [3, -1])
def test_an_image_without_a_place_among_the_labels_is_named(image: int) -> None:
    with pytest.raises(
        InvalidParameterError, match=f"names image {image}, but there are labels for 3 images"
    ):
        said(["a", "b", "c"], Question.label(image))


def test_labels_written_alike_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="both written '1'"):
        LabelOracle([1, "1"])


def test_the_answers_say_who_and_by_what() -> None:
    (answer,) = LabelOracle(["a", "b"], orientation="season").answer([Question.pair(0, 1)])
    assert (answer.who, answer.orientation) == ("labels", "season")


def test_labels_in_a_table_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"labels of shape \(2, 2\)"):
        LabelOracle(np.zeros((2, 2)))
