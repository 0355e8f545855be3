"""Feature blocks: scaling, PCA, and smoothing over nearest neighbours."""

import numpy as np
import pytest

from likewise.estimators.kernel.features import (
    FeatureBlocks,
    knn_smooth,
    normalise,
    pca_axes,
    reference_rows,
)
from likewise.random_streams import stream

Floats = np.typing.NDArray[np.float32]


def unit(rows: Floats) -> Floats:
    found: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


# -- smoothing ------------------------------------------------------------------


def test_each_row_is_the_mean_of_its_ten_nearest_others() -> None:
    rows = unit(stream(0, "company").normal(size=(60, 5)).astype(np.float32))
    found = knn_smooth(rows, reference_rows(rows))
    for i in range(60):
        others = [j for j in range(60) if j != i]
        nearest = sorted(others, key=lambda j: -float(rows[i] @ rows[j]))[:10]
        mean = rows[nearest].mean(axis=0)
        np.testing.assert_allclose(found[i], mean / np.linalg.norm(mean), atol=1e-5)


def test_references_are_leading_columns_of_evenly_spaced_rows() -> None:
    rows = unit(stream(1, "many").normal(size=(4_100, 100)).astype(np.float32))
    references = reference_rows(rows)
    assert references.shape == (1_367, 64)
    np.testing.assert_allclose(references[1], unit(rows[3:4, :64])[0], atol=1e-6)


def test_a_smoothed_row_does_not_depend_on_the_other_rows_given() -> None:
    rows = unit(stream(2, "beside").normal(size=(50, 6)).astype(np.float32))
    references = reference_rows(rows)
    together = knn_smooth(rows, references)[7:9]
    np.testing.assert_allclose(knn_smooth(rows[7:9], references), together, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_images_than_neighbours(n: int) -> None:
    rows = unit(stream(3, "few").normal(size=(n, 4)).astype(np.float32))
    found = knn_smooth(rows, reference_rows(rows))
    assert found.shape == (n, 4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_identical_images_are_not_changed() -> None:
    rows = np.tile(np.array([[0.6, 0.8]], np.float32), (30, 1))
    np.testing.assert_allclose(knn_smooth(rows, reference_rows(rows)), rows, atol=1e-6)


@pytest.mark.parametrize("n_copies", [3, 15, 40])
def test_duplicates_of_an_image_are_not_its_neighbours(n_copies: int) -> None:
    """Also where there are more of them than neighbours are searched at first."""
    rows = unit(stream(6, "copies").normal(size=(80, 5)).astype(np.float32))
    rows[:n_copies] = rows[0]
    others = sorted(range(n_copies, 80), key=lambda j: -float(rows[0] @ rows[j]))[:10]
    mean = rows[others].mean(axis=0)
    found = knn_smooth(rows, reference_rows(rows))
    np.testing.assert_allclose(found[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_groups_become_denser() -> None:
    rng = stream(4, "together")
    classes = np.arange(300) % 3
    rows = rng.normal(size=(300, 20)).astype(np.float32)
    rows[np.arange(300), classes] += 3
    rows = unit(rows)
    found = knn_smooth(rows, reference_rows(rows))
    same = classes[:, None] == classes[None, :]

    def gap(r: Floats) -> float:
        cosines = r @ r.T
        return float((cosines[same].mean() - cosines[~same].mean()) / cosines[same].std())

    assert gap(found) > 2 * gap(rows)


# -- blocks ---------------------------------------------------------------------


def test_every_block_is_returned_unchanged_and_smoothed() -> None:
    matrix = stream(5, "space").normal(size=(40, 30)).astype(np.float32)
    raw = {"a": matrix[:, :10], "b": matrix[:, 10:]}
    features = FeatureBlocks(["a", "b"]).fit(raw)
    blocks = features.transform(raw)
    assert list(blocks) == ["a", "b", "a smoothed", "b smoothed"] == features.names
    assert list(features.unsmoothed(blocks)) == ["a", "b"]
    references = features.state["b.references"]
    np.testing.assert_allclose(blocks["b smoothed"], knn_smooth(blocks["b"], references))


def test_blocks_become_unit_rows_of_few_components() -> None:
    matrix = stream(2, "facets").normal(size=(50, 60)).astype(np.float32)
    matrix[:, 3] = 7.0  # constant
    raw = {"a": matrix[:, :20], "b": matrix[:, 20:]}
    features = FeatureBlocks(["a", "b"], n_components=8).fit(raw)
    rows = features.transform(raw)
    assert rows["a"].shape == (50, 20)
    assert rows["b"].shape == (50, 8)
    for block in rows.values():
        np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, rtol=1e-5)
    few = features.transform({name: columns[:3] for name, columns in raw.items()})
    np.testing.assert_allclose(few["b"], rows["b"][:3], atol=1e-6)


def test_pca_axes_are_the_leading_eigenvectors() -> None:
    rng = stream(3, "leading")
    rows = (rng.normal(size=(80, 30)) * np.geomspace(10, 0.1, 30)).astype(np.float32)
    rows -= rows.mean(axis=0)
    axes = pca_axes(rows, 5)
    _, exact = np.linalg.eigh(rows.T.astype(float) @ rows)
    overlap = np.linalg.svd(axes.T @ exact[:, -5:])[1]
    np.testing.assert_allclose(overlap, 1, atol=1e-3)


def test_rows_of_zeros_stay_zero() -> None:
    rows = np.array([[0, 0], [3, 4]], np.float32)
    expected = np.array([[0, 0], [0.6, 0.8]], np.float32)
    np.testing.assert_allclose(normalise(rows), expected, rtol=1e-6)
