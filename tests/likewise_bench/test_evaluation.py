from typing import Any

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from likewise.constraints.question import Question, person_seconds
from likewise.errors import AnswersEndedError, DatasetError, InvalidParameterError, UnknownNameError
from likewise.oracles.base import LabelOracle
from likewise_bench.datasets.base import Dataset
from likewise_bench.evaluation import GroundTruth, TimedOracle
from likewise_bench.spec import Parts, RunSpec

LETTERS = np.array(["a", "a", "b", "b", "b", "c"])
SIZES = np.array(["s", "s", "s", "l", "l", "l"])
TOY = Dataset("toy", {"letter": LETTERS, "size": SIZES}, vectors=np.zeros((6, 2), np.float32))
NOTHING = np.empty(0, dtype=np.intp)
ALL = Parts(np.arange(6), NOTHING)


def _run(**changes: Any) -> RunSpec:
    return RunSpec("kmeans", dataset="toy", **changes)


def test_the_scores_are_the_five_metrics() -> None:
    marks = GroundTruth(TOY, "letter", ALL).scores(np.array([0, 0, 1, 1, 2, 2]))
    assert list(marks) == ["nmi", "ari", "acc", "fmi", "pair_f1"]
    assert marks["acc"] == pytest.approx(5 / 6)
    assert marks["nmi"] == pytest.approx(
        normalized_mutual_info_score(LETTERS, [0, 0, 1, 1, 2, 2]), abs=1e-9
    )


def test_unasked_scores_only_images_in_no_answer() -> None:
    judge = GroundTruth(TOY, "letter", ALL)
    found = np.array([1, 0, 1, 1, 1, 2])  # only image 0 is wrong
    assert judge.unasked(found, {0})["acc"] == 1  # type: ignore[index]  # some are unasked
    assert judge.unasked(found, {1})["acc"] == pytest.approx(4 / 5)  # type: ignore[index]  # ditto
    assert judge.unasked(found, range(6)) is None


def test_test_scores_are_those_of_held_out_images() -> None:
    judge = GroundTruth(TOY, "size", Parts(np.array([0, 1, 5]), np.array([2, 3, 4])))
    assert judge.test_scores(np.array([0, 1, 1]))["acc"] == 1  # type: ignore[index]  # some held out
    assert judge.test_scores(None) is None


def test_baselines_need_no_answer() -> None:
    baselines = GroundTruth(TOY, "letter", ALL).baselines(np.array([0, 0, 1, 1, 1, 1]))
    assert baselines["majority_acc"] == pytest.approx(3 / 6)
    assert baselines["kmeans_acc"] == pytest.approx(5 / 6)
    assert baselines["other_criterion_acc"] == pytest.approx(4 / 6)
    alone = Dataset("one", {"letter": LETTERS}, vectors=TOY.vectors)
    assert GroundTruth(alone, None, ALL).baselines(np.zeros(6, int))["other_criterion_acc"] is None


def test_the_oracle_uses_indexes_of_the_training_images() -> None:
    judge = GroundTruth(TOY, "letter", Parts(np.array([1, 3, 4]), NOTHING))
    oracle = judge.oracle(_run())
    answers = oracle.answer([Question.pair(0, 1), Question.pair(1, 2)])
    assert [answer.answer for answer in answers] == ["different", "same"]
    assert oracle.n_answers == 2


def test_noise_and_unsure_reach_the_oracle_and_depend_on_the_seed() -> None:
    judge = GroundTruth(TOY, "letter", ALL)
    pairs = [Question.pair(i, j) for i in range(6) for j in range(i)]

    def said(**changes: Any) -> list[str]:
        return [answer.answer for answer in judge.oracle(_run(**changes)).answer(pairs)]

    assert set(said(unsure=1.0)) == {"cannot_tell"}
    turned = {"same": "different", "different": "same"}
    assert said(noise=1.0) == [turned[word] for word in said()]
    assert said(noise=0.5, seed=1) != said(noise=0.5, seed=2)


def test_the_criterion_may_be_omitted_only_if_there_is_one() -> None:
    with pytest.raises(InvalidParameterError, match=r"'toy' has several criteria.*letter, "):
        GroundTruth(TOY, None, ALL)
    with pytest.raises(UnknownNameError, match="'leter' is not a known criterion of toy; did you"):
        GroundTruth(TOY, "leter", ALL)


def test_a_criterion_with_one_value_is_rejected() -> None:
    with pytest.raises(DatasetError, match="'letter' of 'toy' has one value only"):
        GroundTruth(TOY, "letter", Parts(np.array([0, 1]), NOTHING))


def test_a_person_needs_a_fixed_time_per_kind_and_more_per_group_shown() -> None:
    assert person_seconds(Question.pair(0, 1)) == 2
    assert person_seconds(Question.label(0)) == 3
    assert person_seconds(Question.choice(0, (1, 2, 3), ("a", "b", "c"))) == pytest.approx(2.1)


def test_the_timed_oracle_adds_up_the_time_of_every_answer() -> None:
    oracle = TimedOracle(LabelOracle(LETTERS))
    oracle.answer([Question.pair(0, 1), Question.label(2)])
    oracle.answer([Question.choice(0, (1, 2), ("a", "b"))])
    assert oracle.seconds == pytest.approx(2 + 3 + 1.9)
    assert (oracle.n_answers, oracle.is_time_up) == (3, False)


def test_the_timed_oracle_refuses_a_question_that_exceeds_its_limit() -> None:
    oracle = TimedOracle(LabelOracle(LETTERS), max_seconds=4.0)
    for pair in ((0, 1), (1, 2)):
        oracle.answer([Question.pair(*pair)])
    assert not oracle.is_time_up
    with pytest.raises(AnswersEndedError):
        oracle.answer([Question.pair(0, 3)])
    assert (oracle.n_answers, oracle.seconds, oracle.is_time_up) == (2, 4.0, True)
