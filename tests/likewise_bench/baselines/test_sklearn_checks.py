"""scikit-learn's whole suite for every rival, nothing excused."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.methods.rivals.rivals_under_test import RIVALS


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks([make() for make in RIVALS.values()])
def test_every_rival_keeps_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
