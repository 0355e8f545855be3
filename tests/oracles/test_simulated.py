from collections import Counter
from datetime import date

import numpy as np
import pytest

from likewise.constraints.question import Question, person_seconds
from likewise.errors import InvalidParameterError
from likewise.oracles.base import LabelOracle, NoisyOracle
from likewise.queries.candidates import all_pairs
from likewise.random_streams import stream


def answers_of(labels: object, *questions: Question) -> list[str]:
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
    assert answers_of(labels, Question.pair(0, 2), Question.pair(0, 1)) == ["same", "different"]


@pytest.mark.parametrize("missing", [None, float("nan"), -1, "", np.int64(-1), np.float32("nan")])
def test_questions_about_an_image_without_label_are_answered_cannot_tell(missing: object) -> None:
    questions = [
        Question.pair(0, 1),
        Question.pair(1, 2),
        Question.label(1),
        Question.choice(1, (0,), ("g",)),
    ]
    assert answers_of(["a", missing, missing], *questions) == ["cannot_tell"] * 4


def test_a_label_is_added_by_its_name() -> None:
    assert answers_of([3, "x y", 2.5], *map(Question.label, range(3))) == ["3", "x y", "2.5"]


def test_zero_and_false_are_labels() -> None:
    assert answers_of([0, 1], Question.label(0)) == ["0"]
    assert answers_of([False, True], Question.label(0)) == ["False"]


@pytest.mark.parametrize("word", ["none", "new", "same", "cannot_tell"])
def test_a_label_equal_to_a_reserved_answer_gets_a_prefix(word: str) -> None:
    assert answers_of([word, "b"], Question.label(0), Question.pair(0, 1)) == [
        f"label {word}",
        "different",
    ]


class TestChoice:
    LABELS = ("red", "blue", "green", "red", None)

    def test_the_group_of_the_same_label_is_chosen(self) -> None:
        assert answers_of(self.LABELS, Question.choice(3, (1, 0), ("cold", "warm"))) == ["warm"]

    def test_none_where_no_group_fits(self) -> None:
        assert answers_of(self.LABELS, Question.choice(2, (1, 0), ("cold", "warm"))) == ["none"]

    def test_two_groups_of_one_label_leave_no_true_answer(self) -> None:
        labels = ["red", "red", "red"]
        assert answers_of(labels, Question.choice(2, (0, 1), ("one", "two"))) == ["cannot_tell"]

    def test_a_group_without_a_label_matters_only_if_no_other_fits(self) -> None:
        assert answers_of(self.LABELS, Question.choice(3, (4, 0), ("x", "warm"))) == ["warm"]
        assert answers_of(self.LABELS, Question.choice(2, (4, 0), ("x", "warm"))) == ["cannot_tell"]


@pytest.mark.parametrize("image", [3, -1])
def test_an_image_without_a_label_is_named_in_the_error(image: int) -> None:
    with pytest.raises(
        InvalidParameterError, match=f"contains image {image}, but there are labels for 3 images"
    ):
        answers_of(["a", "b", "c"], Question.label(image))


def test_different_labels_with_the_same_text_raise_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="have the same text '1'"):
        LabelOracle([1, "1"])


def test_the_answers_say_who_and_by_what() -> None:
    (answer,) = LabelOracle(["a", "b"], criterion="season").answer([Question.pair(0, 1)])
    assert (answer.who, answer.criterion) == ("labels", "season")


def test_labels_in_a_table_raise_an_error() -> None:
    with pytest.raises(
        InvalidParameterError, match=r"labels must have shape .* got shape \(2, 2\)"
    ):
        LabelOracle(np.zeros((2, 2)))


LABELS = np.arange(60) % 4
PAIRS = [Question.pair(int(i), int(j)) for i, j in all_pairs(np.arange(60))]  # 1770
TRUTH = [answer.answer for answer in LabelOracle(LABELS).answer(PAIRS)]


def noisy_answers(oracle: NoisyOracle, questions: list[Question]) -> list[str]:
    return [answer.answer for answer in oracle.answer(questions)]


def test_without_noise_it_is_the_truth() -> None:
    assert noisy_answers(NoisyOracle(LABELS, flip=0, unsure=0), PAIRS) == TRUTH


def test_the_rates_are_those_asked_for() -> None:
    heard = noisy_answers(NoisyOracle(LABELS, flip=0.2, unsure=0.1), PAIRS)
    n_unsure = heard.count("cannot_tell")
    pairs = zip(heard, TRUTH, strict=True)
    n_wrong = sum(h not in (t, "cannot_tell") for h, t in pairs)
    assert n_unsure / len(PAIRS) == pytest.approx(0.1, abs=0.03)
    assert n_wrong / (len(PAIRS) - n_unsure) == pytest.approx(0.2, abs=0.04)


def test_an_answer_depends_on_seed_and_question_and_not_on_the_order() -> None:
    oracle = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=5)
    heard = dict(zip(PAIRS, noisy_answers(oracle, PAIRS), strict=True))
    shuffled = [PAIRS[k] for k in stream(0).permutation(len(PAIRS))]
    again = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=5)
    assert noisy_answers(again, shuffled) == [heard[question] for question in shuffled]
    assert noisy_answers(oracle, shuffled[:5]) == [heard[question] for question in shuffled[:5]]
    other = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=6)
    assert noisy_answers(other, PAIRS) != list(heard.values())


def test_more_noise_keeps_the_earlier_mistakes() -> None:
    little, much = (noisy_answers(NoisyOracle(LABELS, f, 0.0), PAIRS) for f in (0.1, 0.4))
    wrong = [{k for k, t in enumerate(TRUTH) if heard[k] != t} for heard in (little, much)]
    assert wrong[0] < wrong[1]


def test_a_wrong_choice_is_drawn_from_all_other_options() -> None:
    oracle = NoisyOracle(LABELS, flip=1, unsure=0)
    questions = [Question.choice(i, (0, 1, 2), ("a", "b", "c")) for i in range(4, 60, 4)]
    heard = Counter(noisy_answers(oracle, questions))  # all are "a" in truth
    assert set(heard) == {"b", "c", "none"}


def test_a_wrong_label_is_drawn_from_all_other_labels() -> None:
    oracle = NoisyOracle(LABELS, flip=1, unsure=0)
    heard = Counter(noisy_answers(oracle, [Question.label(i) for i in range(0, 60, 4)]))
    assert set(heard) == {"1", "2", "3"}


def test_with_one_label_there_is_nothing_else_to_say() -> None:
    assert noisy_answers(NoisyOracle(["a", "a"], flip=1, unsure=0), [Question.label(0)]) == ["a"]


def test_cannot_tell_is_never_turned_into_a_wrong_answer() -> None:
    oracle = NoisyOracle(["a", None], flip=1, unsure=0)
    assert noisy_answers(oracle, [Question.pair(0, 1), Question.label(1)]) == ["cannot_tell"] * 2


@pytest.mark.parametrize(("name", "value"), [("flip", 1.5), ("unsure", -0.1)])
def test_probabilities_must_be_between_0_and_1(name: str, value: float) -> None:
    with pytest.raises(InvalidParameterError, match=f"{name} must be between 0 and 1, got {value}"):
        NoisyOracle(LABELS, **{name: value})  # type: ignore[arg-type]  # one of two, by name


def test_the_answers_say_that_they_are_noisy_and_by_what() -> None:
    (answer,) = NoisyOracle(["x", "y"], criterion="season").answer([Question.pair(0, 1)])
    assert (answer.who, answer.criterion) == ("noisy labels", "season")


GRID = Question.grid(tuple(range(1, 13)), 0, "a")


def test_the_images_of_another_label_are_ticked() -> None:
    labels = ["a", "b", "a", "c", None]
    (answer,) = LabelOracle(labels).answer([Question.grid((1, 2, 3), 0, "a")])
    assert (answer.answer, answer.ticked) == ("ticked", (1, 3))
    (unknown,) = LabelOracle(labels).answer([Question.grid((1, 4), 0, "a")])
    assert (unknown.answer, unknown.ticked) == ("cannot_tell", ())


def test_the_share_of_wrong_grids_is_the_rate_of_noise() -> None:
    labels = ["a", *["a", "b"] * 1500]
    grids = [Question.grid(tuple(range(i, i + 10)), 0, "a") for i in range(1, 3001, 10)]
    truths = LabelOracle(labels).answer(grids)
    answers = NoisyOracle(labels, flip=0.1, unsure=0.0, seed=1).answer(grids)
    wrong = [len(set(t.ticked) ^ set(a.ticked)) for t, a in zip(truths, answers, strict=True)]
    assert 15 <= np.count_nonzero(wrong) <= 45  # of 300
    assert 1.2 < np.mean([n for n in wrong if n]) < 2.9  # one image, and each other with .1
    assert [a.ticked for a in NoisyOracle(labels, 0.1, 0.0, 1).answer(grids)] == [
        a.ticked for a in answers
    ]


def test_a_grid_is_unsure_as_a_whole() -> None:
    (answer,) = NoisyOracle(["a"] * 13, flip=0, unsure=1).answer([GRID])
    assert (answer.answer, answer.ticked) == ("cannot_tell", ())


def test_the_time_of_a_person_depends_on_kind_images_and_ticks() -> None:
    assert person_seconds(GRID, n_ticked=2) == pytest.approx(1.5 + 12 * 0.3 + 2 * 0.5)
