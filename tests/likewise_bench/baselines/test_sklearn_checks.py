"""scikit-learn's estimator checks for every baseline, without exceptions."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.likewise_bench.baselines.contract_methods import CONTRACT_METHODS


# Some of the checks set n_clusters=1, which is allowed with a warning.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks([make() for make in CONTRACT_METHODS.values()])
def test_every_baseline_passes_the_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)
