"""Fields of a training plan are checked, and questions are divided over rounds."""

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
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be greater than 0, got 0.0"),
        ({"warmup_epochs": -1}, "warmup_epochs must be at least 0, got -1"),
        ({"query_timing": "rounds"}, "did you mean 'round'"),
        ({"sampler": "unifrom"}, "did you mean 'uniform'"),
    ],
)
def test_an_invalid_field_raises_an_error(change: dict[str, object], text: str) -> None:
    with pytest.raises(InvalidParameterError, match=text):
        TrainingPlan().replace(**change)


def test_an_unknown_field_raises_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'batch_size'"):
        TrainingPlan().replace(batchsize=3)
    with pytest.raises(UnknownNameError, match="did you mean 'n_hidden'"):
        NetworkConfig().replace(hidden=3)


def test_a_network_configuration_needs_positive_widths_and_some_features() -> None:
    with pytest.raises(InvalidParameterError, match=r"feature_dropout must be .* below 1, got 1.0"):
        NetworkConfig(feature_dropout=1.0)
    with pytest.raises(InvalidParameterError, match="n_hidden must be at least 1, got 0"):
        NetworkConfig(n_hidden=0)
