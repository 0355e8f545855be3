"""SC, AC and NMF find structure that k-means does not."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_circles

from likewise.estimators.kmeans import KMeans
from likewise.metrics import accuracy
from likewise.random_streams import stream
from likewise_bench.baselines.classic import AC, NMF, SC


@pytest.mark.parametrize(
    "model",
    [SC(n_clusters=2, random_state=0), AC(n_clusters=2, linkage="single")],
    ids=["sc", "ac"],
)
def test_concentric_rings_are_separated_where_kmeans_fails(model: Any) -> None:
    X, y = make_circles(160, factor=0.3, noise=0.02, random_state=0)
    assert accuracy(y, model.fit(X).labels_) == 1
    assert accuracy(y, KMeans(n_clusters=2, random_state=0).fit(X).labels_) < 0.7
    assert accuracy(y, model.predict(X)) < 1  # a new image goes to the nearest mean


def test_nmf_finds_columns_that_rise_together() -> None:
    rng = stream(0, "parts")
    y = rng.integers(3, size=90)
    X = rng.random((90, 12)) * 0.2
    for part in range(3):
        X[y == part, part * 4 : part * 4 + 4] += rng.uniform(1, 5, size=((y == part).sum(), 1))
    assert accuracy(y, NMF(n_clusters=3, random_state=0).fit(X).labels_) > 0.95


def test_a_large_collection_is_clustered_by_a_subsample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise_bench.baselines.classic._MAX_ROWS", 40)
    rng = stream(0, "large")
    y = rng.integers(2, size=100)
    X = rng.normal(size=(100, 3)) + 8 * y[:, None]
    for model in (SC(n_clusters=2, random_state=0), AC(n_clusters=2)):
        assert accuracy(y, model.fit(X).labels_) == 1


def test_they_ask_nothing_and_nmf_probabilities_are_finite() -> None:
    assert all(method.asks == () for method in (SC, AC, NMF))
    assert np.isfinite(NMF(n_clusters=2, random_state=0).fit(np.eye(6)).probabilities_).all()
