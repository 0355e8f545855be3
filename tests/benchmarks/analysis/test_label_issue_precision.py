"""Label issues compared with the true labels, on blobs where wrong answers are obvious."""

from sklearn.datasets import make_blobs

from benchmarks.analysis.label_issue_precision import answered_model, count
from likewise.estimators.kernel.likewise import Likewise
from likewise.oracles.base import LabelOracle, NoisyOracle

X, y = make_blobs(150, n_features=6, centers=3, random_state=1)


def test_offered_answers_are_counted_as_wrong_or_right() -> None:
    model = answered_model(
        Likewise(3, kinds="pair,choice", random_state=0), X, NoisyOracle(y, flip=0.1, seed=3), 60
    )
    offered, found, wrong = count(model, LabelOracle(y))
    assert model.constraints_.n_answers + len(model.constraints_.conflicts) >= 60
    assert 0 < found <= offered <= 5
    assert found <= wrong
    assert wrong > 2


def test_without_wrong_answers_none_is_counted() -> None:
    model = answered_model(Likewise(3, kinds="pair,choice", random_state=0), X, LabelOracle(y), 40)
    assert count(model, LabelOracle(y))[1:] == (0, 0)
