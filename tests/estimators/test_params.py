"""A plan refuses what can never work, and divides questions over rounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.params import NetworkConfig, TrainingPlan


@given(st.integers(0, 500), st.integers(1, 20))
def test_rounds_share_all_questions_evenly(n_questions: int, n_rounds: int) -> None:
    plan = TrainingPlan(n_rounds=n_rounds)
    shares = [plan.questions_in_round(n_questions, number) for number in range(n_rounds)]
    assert sum(shares) == n_questions
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"batch_size": 0}, "batch_size=0 must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 must be greater than 0"),
        ({"warmup_epochs": -1}, "warmup_epochs=-1 must not be negative"),
        ({"query_timing": "rounds"}, "did you mean 'round'"),
        ({"sampler": "unifrom"}, "did you mean 'uniform'"),
    ],
)
def test_a_senseless_entry_is_refused(change: dict[str, object], text: str) -> None:
    with pytest.raises(InvalidParameterError, match=text):
        TrainingPlan().replace(**change)


def test_an_unknown_entry_is_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'batch_size'"):
        TrainingPlan().replace(batchsize=3)
    with pytest.raises(UnknownNameError, match="did you mean 'n_hidden'"):
        NetworkConfig().replace(hidden=3)


def test_an_architecture_keeps_something_of_every_vector() -> None:
    with pytest.raises(InvalidParameterError, match=r"feature_dropout=1.0 must be"):
        NetworkConfig(feature_dropout=1.0)
    with pytest.raises(InvalidParameterError, match="n_hidden=0 must be at least 1"):
        NetworkConfig(n_hidden=0)
