"""TOD: the discrepancy is larger where the model was wrong, and labels are asked there."""

import numpy as np
import pytest

from likewise.errors import PoolExhaustedError
from likewise.estimators.params import TrainingPlan
from likewise.oracles.base import LabelOracle
from likewise_bench.baselines.tod import TOD
from tests.likewise_bench.baselines.crossed_groupings import SMALL, crossed_groupings

PLAN = TrainingPlan(n_rounds=3, epochs_per_round=12, batch_size=60, learning_rate=0.01)


def test_the_discrepancy_is_larger_where_the_model_was_wrong() -> None:
    rows, _, target = crossed_groupings()
    model = TOD(n_clusters=2, plan=PLAN, architecture=SMALL, random_state=0).start(rows)
    first = model.ask(10)
    model.tell(first, LabelOracle(target).answer(first))
    model.train(3)
    before = model.probabilities_.argmax(axis=1)
    earlier = model.probabilities_[:, np.argsort(model.columns_)]
    more = model.ask(10)
    model.tell(more, LabelOracle(target).answer(more))
    model.train(12)
    changed = np.linalg.norm(model.probabilities_[:, np.argsort(model.columns_)] - earlier, axis=1)
    np.testing.assert_allclose(model.discrepancy_, changed, atol=1e-5)
    names = {int(model.labels_[q.images[0]]): target[q.images[0]] for q in more}
    right = np.array([names.get(int(c), -1) for c in before]) == target
    assert 0 < right.sum() < len(rows)
    assert model.discrepancy_[~right].mean() > model.discrepancy_[right].mean()
    with pytest.raises(PoolExhaustedError, match="141 labels were asked for but only 140 images"):
        model.ask(141)
