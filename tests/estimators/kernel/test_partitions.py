"""The grouping before any answer."""

import numpy as np

from likewise.estimators.kernel.partitions import InitialClusters
from likewise.random_streams import stream


def _unit_clusters() -> tuple[np.ndarray, np.ndarray]:
    """Return unit rows in three clusters, and the cluster of each."""
    rng, truth = stream(7, "initial"), np.arange(90) % 3
    rows = np.eye(3, 5)[truth] + rng.normal(size=(90, 5)) * 0.1
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), truth


def test_images_are_assigned_to_the_nearest_centroid() -> None:
    rows, truth = _unit_clusters()
    p = InitialClusters().fit(rows, 3, seed=0).predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    found = p.argmax(axis=1)
    assert len({(int(t), int(c)) for t, c in zip(truth, found, strict=True)}) == 3


def test_the_state_is_restored() -> None:
    rows, _ = _unit_clusters()
    clusters, restored = InitialClusters().fit(rows, 3, seed=0), InitialClusters()
    assert restored.get_state() == {}
    restored.set_state(clusters.get_state())
    np.testing.assert_array_equal(restored.predict_proba(rows), clusters.predict_proba(rows))
