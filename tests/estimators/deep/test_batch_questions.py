"""Questions inside batches and between rounds: when, how many, and none whose answer is implied."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.objective import Batch
from likewise.estimators.deep.occ import OCC, OCCObjective
from likewise.estimators.deep.pcl import PCL, PCLObjective
from likewise.estimators.params import TrainingPlan
from likewise.oracles.base import CountingOracle, LabelOracle
from tests.estimators.contract_methods import METHODS
from tests.estimators.made_data import TINY, two_factors

X, BOLD, FAINT = two_factors(120)
IN_BATCHES = TrainingPlan(
    epochs_per_round=4, batch_size=40, query_timing="batch", learning_rate=0.01
)
ROUNDS = TrainingPlan(
    n_rounds=3, epochs_per_round=2, batch_size=40, warmup_epochs=2, learning_rate=0.01
)
BOTH = pytest.mark.parametrize("make", [OCC, PCL])
Make = Callable[..., InteractiveClusterer]


def model(make: Make, plan: TrainingPlan, **given: Any) -> InteractiveClusterer:
    return make(n_clusters=2, architecture=TINY, plan=plan, random_state=0, **given)


@pytest.mark.parametrize(("make", "in_a_batch", "first_epoch"), [(OCC, 2, 1), (PCL, 1, 2)])
def test_every_batch_from_the_first_query_epoch_on_asks_questions_per_batch(
    make: Make, in_a_batch: int, first_epoch: int
) -> None:
    plan = IN_BATCHES.replace(questions_per_batch=in_a_batch, first_query_epoch=first_epoch)
    oracle = CountingOracle(LabelOracle(FAINT))
    n_asked = in_a_batch * (120 // 40) * (4 - first_epoch)
    with pytest.warns(LikewiseWarning, match=rf"Of 1000 questions {n_asked} were asked: at most"):
        model(make, plan).fit(X, oracle=oracle, n_questions=1000)
    assert oracle.n_answers == n_asked


def test_the_papers_ask_two_from_epoch_one_and_one_from_epoch_ten() -> None:
    from likewise.estimators.deep import occ, pcl

    for plan, expected in ((occ.PAPER, (2, 1)), (pcl.PAPER, (1, 10))):
        assert plan.query_timing == "batch"
        assert (plan.questions_per_batch, plan.first_query_epoch) == expected


@pytest.mark.parametrize("name", [n for n in ("dsac", "dcc", "idc", "tod") if n in METHODS])
def test_a_method_that_asks_between_rounds_only_raises_an_error(name: str) -> None:
    """Otherwise it would silently ask nothing."""
    with pytest.raises(InvalidParameterError, match="between rounds only, got query_timing"):
        METHODS[name](plan=IN_BATCHES).start(X)


def test_fit_ends_if_ask_returns_nothing() -> None:
    class Silent(PCL):
        n_calls = 0

        def ask(self, n: int = 1) -> list[Question]:
            self.n_calls += 1
            assert self.n_calls < 9, "asked again and again"
            return []

    silent = Silent(n_clusters=2, architecture=TINY, plan=ROUNDS, random_state=0)
    silent.fit(X, oracle=LabelOracle(FAINT), n_questions=6)
    assert (silent.n_calls, silent.constraints_.n_answers) == (3, 0)


@pytest.mark.parametrize("name", [n for n in ("cc", "ae") if n in METHODS])
def test_a_method_that_asks_nothing_accepts_both_query_timings(name: str) -> None:
    assert len(METHODS[name](plan=IN_BATCHES).start(X).labels_) == len(X)


@BOTH
def test_batches_never_ask_more_than_the_budget(make: Make) -> None:
    oracle = CountingOracle(LabelOracle(FAINT))
    fitted = model(make, IN_BATCHES).fit(X, oracle=oracle, n_questions=5)
    assert oracle.n_answers == fitted.constraints_.n_answers == fitted.n_asked_ == 5


@BOTH
def test_rounds_divide_the_budget_and_ask_before_they_train(make: Make) -> None:
    oracle, seen = CountingOracle(LabelOracle(FAINT)), []
    model(make, ROUNDS).fit(
        X, oracle=oracle, n_questions=10, watch=lambda _: seen.append(oracle.n_answers)
    )
    assert seen == [4, 7, 10]


@BOTH
def test_an_answer_is_in_the_loss_of_the_step_that_asked(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    oracle, seen = CountingOracle(LabelOracle(FAINT)), []
    objective: Any = OCCObjective if make is OCC else PCLObjective
    plain = objective.terms

    def spied(self: Any, batch: Batch) -> Any:
        n_relations = int((batch.relations.relations != 0).sum()) // 2
        seen.append((oracle.n_answers, n_relations))
        return plain(self, batch)

    monkeypatch.setattr(objective, "terms", spied)
    model(make, IN_BATCHES).fit(X, oracle=oracle, n_questions=1)
    assert seen[:4] == [(0, 0), (0, 0), (0, 0), (1, 1)]  # epoch 0, then the first batch of epoch 1


class RecordingOracle:
    """An oracle that records every question whose answer was already implied."""

    def __init__(self) -> None:
        self.oracle = LabelOracle(FAINT)
        self.model: InteractiveClusterer
        self.asked: list[tuple[int, ...]] = []
        self.known: list[tuple[int, ...]] = []

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        for question in questions:
            i, j = question.images
            if self.model.constraints_.relation(i, j):
                self.known.append((i, j))
        self.asked += [question.images for question in questions]
        return self.oracle.answer(questions)


@pytest.mark.filterwarnings("ignore:Of the .* questions of", "ignore:Of 18 questions")
@BOTH
@pytest.mark.parametrize("plan", [ROUNDS, IN_BATCHES.replace(questions_per_batch=8)])
def test_no_answer_given_or_implied_is_ever_asked(make: Make, plan: TrainingPlan) -> None:
    """Many questions about few images, so that most answers follow from others."""
    oracle = RecordingOracle()
    oracle.model = model(make, plan.replace(batch_size=16))
    oracle.model.fit(X[:16], oracle=oracle, n_questions=18)
    assert oracle.known == []
    assert len(set(oracle.asked)) == len(oracle.asked) > 10


def test_a_budget_larger_than_the_open_pairs_gives_a_warning() -> None:
    oracle = CountingOracle(LabelOracle(FAINT))
    with pytest.warns(LikewiseWarning, match="Of the .* questions of this round") as warned:
        fitted = model(PCL, ROUNDS).fit(X[:8], oracle=oracle, n_questions=100)
    assert oracle.n_answers <= 28
    texts = [str(warning.message) for warning in warned]
    first = f"Of the 34 questions of this round {oracle.n_answers} were asked: nothing else is open"
    assert [text for text in texts if text.startswith(first)]
    pairs = [(i, j) for i in range(8) for j in range(i)]
    assert (fitted.constraints_.pair_relations(np.array(pairs)) != 0).all()


def test_a_pair_answered_cannot_tell_is_not_asked_again_soon() -> None:
    class UnsureOracle(RecordingOracle):
        def answer(self, questions: Sequence[Question]) -> list[Answer]:
            super().answer(questions)
            return [Answer(question, "cannot_tell") for question in questions]

    oracle = UnsureOracle()
    oracle.model = model(PCL, ROUNDS)
    oracle.model.fit(X[:12], oracle=oracle, n_questions=30)
    assert len(set(oracle.asked)) == 30


@BOTH
@pytest.mark.parametrize("plan", [ROUNDS, IN_BATCHES])
def test_a_resumed_training_is_the_uninterrupted_one_bit_for_bit(
    make: Make, plan: TrainingPlan, tmp_path: Path
) -> None:
    """Network, questions, answers, budget and guesses."""
    plan = plan.replace(checkpoint_every=1, warmup_epochs=2)
    given: dict[str, Any] = {"extension": 0.9, "extension_threshold": 0.3}
    told: dict[str, Any] = {"oracle": LabelOracle(FAINT), "n_questions": 9}
    whole = model(make, plan, **given).fit(X, **told)
    n_epochs = len(whole.history_)
    for stop_at in (2, 3, n_epochs - 1):
        place = tmp_path / str(stop_at)
        epochs: list[int] = []

        def stop(done: int, total: int, at: int = stop_at, seen: list[int] = epochs) -> None:
            seen.append(done)
            if len(seen) == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            model(make, plan, **given).fit(X, checkpoint=place, progress=stop, **told)
        resumed = model(make, plan, **given).fit(X, checkpoint=place, **told)
        assert len(resumed.history_) == n_epochs
        np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
        assert resumed.history_ == whole.history_
        assert resumed.constraints_.answers == whole.constraints_.answers
        assert resumed.constraints_.pseudo() == whole.constraints_.pseudo() != {}
        assert resumed.n_asked_ == whole.n_asked_ == 9


@pytest.mark.parametrize("calls", [2, 3])  # after the warm-up, after the first round
def test_a_stop_between_the_last_epoch_and_the_end_of_its_round_repeats_no_epoch(
    calls: int, tmp_path: Path
) -> None:
    plan = ROUNDS.replace(checkpoint_every=1)
    told: dict[str, Any] = {"oracle": LabelOracle(FAINT), "n_questions": 6}
    whole = model(OCC, plan).fit(X, **told)
    stopped, seen = model(OCC, plan), []
    assign = stopped._assign

    def stop() -> None:
        seen.append(1)
        if len(seen) == calls:
            raise KeyboardInterrupt
        assign()

    stopped._assign = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, checkpoint=tmp_path / "c", **told)
    resumed = model(OCC, plan).fit(X, checkpoint=tmp_path / "c", **told)
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.probabilities_, whole.probabilities_)
