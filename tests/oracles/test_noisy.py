from collections import Counter

import numpy as np
import pytest

from likewise.constraints.question import Question
from likewise.errors import InvalidParameterError
from likewise.oracles.labels import LabelOracle
from likewise.oracles.noisy import NoisyOracle
from likewise.queries.candidates import all_pairs
from likewise.seeds import stream

LABELS = np.arange(60) % 4
PAIRS = [Question.pair(int(i), int(j)) for i, j in all_pairs(np.arange(60))]  # 1770
TRUTH = [answer.answer for answer in LabelOracle(LABELS).answer(PAIRS)]


def said(oracle: NoisyOracle, questions: list[Question]) -> list[str]:
    return [answer.answer for answer in oracle.answer(questions)]


def test_without_noise_it_is_the_truth() -> None:
    assert said(NoisyOracle(LABELS, flip=0, unsure=0), PAIRS) == TRUTH


def test_the_rates_are_those_asked_for() -> None:
    heard = said(NoisyOracle(LABELS, flip=0.2, unsure=0.1), PAIRS)
    n_unsure = heard.count("cannot_tell")
    pairs = zip(heard, TRUTH, strict=True)
    n_wrong = sum(h not in (t, "cannot_tell") for h, t in pairs)
    assert n_unsure / len(PAIRS) == pytest.approx(0.1, abs=0.03)
    assert n_wrong / (len(PAIRS) - n_unsure) == pytest.approx(0.2, abs=0.04)


def test_an_answer_depends_on_seed_and_question_and_not_on_the_order() -> None:
    oracle = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=5)
    heard = dict(zip(PAIRS, said(oracle, PAIRS), strict=True))
    shuffled = [PAIRS[k] for k in stream(0).permutation(len(PAIRS))]
    again = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=5)
    assert said(again, shuffled) == [heard[question] for question in shuffled]
    assert said(oracle, shuffled[:5]) == [heard[question] for question in shuffled[:5]]
    other = NoisyOracle(LABELS, flip=0.3, unsure=0.2, seed=6)
    assert said(other, PAIRS) != list(heard.values())


def test_more_noise_keeps_the_mistakes_there_were() -> None:
    little, much = (said(NoisyOracle(LABELS, f, 0.0), PAIRS) for f in (0.1, 0.4))
    wrong = [{k for k, t in enumerate(TRUTH) if heard[k] != t} for heard in (little, much)]
    assert wrong[0] < wrong[1]


def test_a_wrong_choice_is_another_option_and_each_comes_up() -> None:
    oracle = NoisyOracle(LABELS, flip=1, unsure=0)
    questions = [Question.choice(i, (0, 1, 2), ("a", "b", "c")) for i in range(4, 60, 4)]
    heard = Counter(said(oracle, questions))  # all are "a" in truth
    assert set(heard) == {"b", "c", "none"}


def test_a_wrong_label_is_another_label_and_each_comes_up() -> None:
    oracle = NoisyOracle(LABELS, flip=1, unsure=0)
    heard = Counter(said(oracle, [Question.label(i) for i in range(0, 60, 4)]))
    assert set(heard) == {"1", "2", "3"}


def test_with_one_label_there_is_nothing_else_to_say() -> None:
    assert said(NoisyOracle(["a", "a"], flip=1, unsure=0), [Question.label(0)]) == ["a"]


def test_what_cannot_be_told_is_not_flipped() -> None:
    oracle = NoisyOracle(["a", None], flip=1, unsure=0)
    assert said(oracle, [Question.pair(0, 1), Question.label(1)]) == ["cannot_tell"] * 2


@pytest.mark.parametrize(("name", "value"), [("flip", 1.5), ("unsure", -0.1)])
def test_chances_lie_between_0_and_1(name: str, value: float) -> None:
    with pytest.raises(InvalidParameterError, match=f"{name}={value} is no chance"):
        NoisyOracle(LABELS, **{name: value})  # type: ignore[arg-type]  # one of two, by name


def test_the_answers_say_that_they_are_noisy_and_by_what() -> None:
    (answer,) = NoisyOracle(["x", "y"], orientation="season").answer([Question.pair(0, 1)])
    assert (answer.who, answer.orientation) == ("noisy labels", "season")
