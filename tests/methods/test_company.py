"""Images in company: the mean of their nearest neighbours, whoever else is looked at."""

import numpy as np
import pytest

from likewise.estimators.kernel.features import FeatureBlocks, knn_smooth, reference_rows
from likewise.seeds import stream

Floats = np.typing.NDArray[np.float32]


def unit(rows: Floats) -> Floats:
    found: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def test_each_row_is_the_mean_of_its_ten_nearest_others() -> None:
    rows = unit(stream(0, "company").normal(size=(60, 5)).astype(np.float32))
    found = knn_smooth(rows, reference_rows(rows))
    for i in range(60):
        others = [j for j in range(60) if j != i]
        nearest = sorted(others, key=lambda j: -float(rows[i] @ rows[j]))[:10]
        mean = rows[nearest].mean(axis=0)
        np.testing.assert_allclose(found[i], mean / np.linalg.norm(mean), atol=1e-5)


def test_only_leading_columns_of_some_images_bear_witness() -> None:
    rows = unit(stream(1, "many").normal(size=(4_100, 100)).astype(np.float32))
    some = reference_rows(rows)
    assert some.shape == (1_367, 64)
    np.testing.assert_allclose(some[1], unit(rows[3:4, :64])[0], atol=1e-6)


def test_nobody_depends_on_who_is_looked_at_beside_it() -> None:
    rows = unit(stream(2, "beside").normal(size=(50, 6)).astype(np.float32))
    among = reference_rows(rows)
    np.testing.assert_allclose(
        knn_smooth(rows[7:9], among), knn_smooth(rows, among)[7:9], atol=1e-6
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_images_are_company_enough(n: int) -> None:
    rows = unit(stream(3, "few").normal(size=(n, 4)).astype(np.float32))
    found = knn_smooth(rows, reference_rows(rows))
    assert found.shape == (n, 4)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_images_that_are_all_alike_stay_what_they_are() -> None:
    rows = np.tile(np.array([[0.6, 0.8]], np.float32), (30, 1))
    np.testing.assert_allclose(knn_smooth(rows, reference_rows(rows)), rows, atol=1e-6)


def test_groups_draw_together() -> None:
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


def test_a_space_gives_every_facet_alone_and_in_company() -> None:
    matrix = stream(5, "space").normal(size=(40, 30)).astype(np.float32)
    raw = {"a": matrix[:, :10], "b": matrix[:, 10:]}
    space = FeatureBlocks(["a", "b"]).fit(raw)
    facets = space(raw)
    assert list(facets) == ["a", "b", "a in company", "b in company"] == space.names
    assert list(space.alone(facets)) == ["a", "b"]
    among = space.arrays["b.witnesses"]
    np.testing.assert_allclose(facets["b in company"], knn_smooth(facets["b"], among))
