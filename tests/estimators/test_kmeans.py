from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from likewise.estimators.kmeans import KMeans
from likewise.metrics import accuracy
from likewise.oracles.base import LabelOracle
from likewise.random_streams import stream


# Some of its checks set n_clusters=1, which we allow and warn of.
@pytest.mark.filterwarnings("ignore:n_clusters=1")
@parametrize_with_checks([KMeans(n_clusters=3, n_init=1)])
def test_it_passes_scikit_learns_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def _blobs() -> tuple[Any, Any]:
    X, y = make_blobs(150, n_features=5, centers=4, random_state=3)
    return X * [1, 10, 100, 1000, 0.001], y


def test_it_is_scikit_learns_k_means_on_standardised_columns() -> None:
    X, y = _blobs()
    ours = KMeans(n_clusters=4, random_state=0).fit(X)
    theirs = TheirKMeans(4, n_init=10, random_state=0).fit(StandardScaler().fit_transform(X))
    assert accuracy(theirs.labels_, ours.labels_) == 1
    assert accuracy(y, ours.labels_) == 1


def test_probabilities_order_as_distances_do() -> None:
    X, _ = _blobs()
    model = KMeans(n_clusters=4, random_state=0).fit(X)
    scaled = StandardScaler().fit_transform(X)
    centres = np.stack([scaled[model.labels_ == c].mean(axis=0) for c in range(4)])
    away = np.linalg.norm(scaled[:, None] - centres, axis=2)
    probabilities = model.predict_proba(X)
    assert (np.argsort(-probabilities, axis=1)[:, 0] == np.argsort(away, axis=1)[:, 0]).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    nearest, second = np.sort(away, axis=1)[:, :2].T
    margins, m = second - nearest, (second - nearest).mean()
    between_two = np.exp(0) / (1 + np.exp(-2 * margins / m))
    first, other = np.sort(probabilities, axis=1)[:, :-3:-1].T
    np.testing.assert_allclose(first / (first + other), between_two, rtol=1e-3)


def test_equal_images_do_not_divide_by_zero() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    probabilities = KMeans(n_clusters=2, random_state=0).fit(X).probabilities_
    assert np.isfinite(probabilities).all()


def test_images_are_predicted_independently() -> None:
    X, _ = _blobs()
    model = KMeans(n_clusters=4, random_state=0).fit(X)
    alone = np.concatenate([model.predict_proba(row[None]) for row in X])
    np.testing.assert_array_equal(alone, model.predict_proba(X))


def test_it_asks_nothing_but_satisfies_given_constraints() -> None:
    X, y = _blobs()
    model = KMeans(n_clusters=4, random_state=0).fit(X, oracle=LabelOracle(y), n_questions=10)
    assert model.constraints_.n_answers == 0
    first, second = np.flatnonzero(model.labels_ == model.labels_[0])[:2]
    told = KMeans(n_clusters=4, random_state=0).fit(X, cl=[(int(first), int(second))])
    assert told.labels_[first] != told.labels_[second]
    assert told.violations_ == 1


def test_a_loaded_model_predicts_the_same(tmp_path: Path) -> None:
    X, _ = _blobs()
    model = KMeans(n_clusters=4, random_state=0).fit(X)
    model.save(tmp_path / "model")
    new = stream(0, "new").normal(size=(20, 5)) * X.std(axis=0)
    loaded = KMeans.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_a_constant_column_has_no_effect() -> None:
    X, y = _blobs()
    X = np.column_stack([X, np.full(len(X), 7.0)])
    assert accuracy(y, KMeans(n_clusters=4, random_state=0).fit(X).labels_) == 1


def test_n_init_is_passed_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def spy(n_clusters: int, *, n_init: int, random_state: int) -> TheirKMeans:
        seen.append(n_init)
        return TheirKMeans(n_clusters, n_init=n_init, random_state=random_state)

    monkeypatch.setattr("likewise.estimators.kmeans.SklearnKMeans", spy)
    KMeans(n_clusters=2, n_init=3).fit(_blobs()[0])
    assert seen == [3]
