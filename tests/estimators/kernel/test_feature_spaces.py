"""Which feature spaces, and how many groups, the answers make likely."""

import numpy as np
import numpy.typing as npt
import pytest

from likewise.estimators.kernel.feature_spaces import FeatureSpaces, _median_k
from likewise.estimators.kernel.features import FeatureBlocks
from likewise.estimators.kernel.gp_classifier import squared_distances
from likewise.estimators.kernel.partitions import kmeans
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

N = 240
CONTENT, COLOR = np.arange(N) % 4, np.arange(N) // 4 % 3


def make_blocks(seed: int = 0) -> dict[str, Floats]:
    """Return a block in which `CONTENT` is plain and one in which `COLOR` is."""
    rng = stream(seed, "blocks")
    raw = {}
    for name, truth in (("last", CONTENT), ("palette", COLOR)):
        centers = rng.normal(size=(truth.max() + 1, 12)) * 4
        raw[name] = (centers[truth] + rng.normal(size=(N, 12))).astype(np.float32)
    return FeatureBlocks(["last", "palette"]).fit(raw).transform(raw)


def make_spaces(n_clusters: int) -> FeatureSpaces:
    return FeatureSpaces(make_blocks(), ["last", "palette"], n_clusters, seed=0)


def labels(truth: Indexes, n: int, seed: int = 0) -> tuple[Indexes, Indexes]:
    """Return `n` images in random order with their groups."""
    images = stream(seed, "labelled").permutation(N)[:n]
    return images, truth[images]


@pytest.mark.parametrize(("truth", "block"), [(CONTENT, 0), (COLOR, 1)])
def test_the_block_that_explains_the_answers_gets_the_weight(truth: Indexes, block: int) -> None:
    spaces = make_spaces(int(truth.max()) + 1)
    before = spaces.posterior(*labels(truth, 0))
    np.testing.assert_allclose(before.weights, [0.5, 0.5])
    after = spaces.posterior(*labels(truth, 20))
    assert after.weights[block] > 0.6
    assert after.weights.sum() == pytest.approx(1)


def test_trust_falls_where_groups_do_not_follow_any_cluster() -> None:
    spaces, arbitrary = make_spaces(3), stream(1, "arbitrary").integers(3, size=N)
    assert spaces.posterior(*labels(COLOR, 0)).trust == 1
    assert spaces.posterior(*labels(COLOR, 30)).trust > 0.6
    assert spaces.posterior(*labels(arbitrary, 30)).trust < 0.3


@pytest.mark.parametrize("truth", [CONTENT, COLOR])
def test_the_number_of_groups_is_found_from_answers(truth: Indexes) -> None:
    assert make_spaces(0).posterior(*labels(truth, 25)).n_clusters == truth.max() + 1


def test_there_are_at_least_as_many_groups_as_the_answers_show() -> None:
    every_image_its_own = np.arange(N)
    for n in (1, 3, 6):
        assert make_spaces(0).posterior(*labels(every_image_its_own, n)).n_clusters >= n
    assert make_spaces(0).guess_n_clusters() >= 2
    assert make_spaces(5).guess_n_clusters() == 5


def test_k_is_the_posterior_median_within_the_bounds_of_the_answers() -> None:
    sizes, p = np.array([2, 3, 9]), np.array([0.2, 0.4, 0.4])
    assert _median_k(sizes, p, np.arange(2)) == 3
    assert _median_k(sizes, p, np.arange(5)) == 5  # at least the groups seen
    seen_often = np.arange(8) % 2  # Chao's estimate: no group is missing
    assert _median_k(sizes, p, seen_often) == 2
    seen_once = np.array([0, 0, 0, 0, 0, 0, 1, 2, 3])  # three groups have one label
    assert _median_k(sizes, np.array([0.0, 0.0, 1.0]), seen_once) == 4 + round(1.5 * 3)


def test_clear_clusters_are_counted_before_any_answer() -> None:
    rng, truth = stream(3, "clumps"), np.arange(240) % 5
    rows = rng.normal(size=(5, 8))[truth] * 9 + rng.normal(size=(240, 8))
    raw = {"all": rows.astype(np.float32)}
    blocks = FeatureBlocks(["all"]).fit(raw).transform(raw)
    assert FeatureSpaces(blocks, ["all"], 0, seed=0).guess_n_clusters() == 5


def test_the_numbers_of_the_groups_do_not_matter() -> None:
    spaces, (images, groups) = make_spaces(4), labels(CONTENT, 12)
    renumbered = np.array([2, 0, 3, 1])[groups]
    one, other = spaces.posterior(images, groups), spaces.posterior(images, renumbered)
    np.testing.assert_allclose(one.weights, other.weights)
    assert one.trust == pytest.approx(other.trust)


def test_the_posterior_is_that_of_a_loop_over_partitions_and_labels() -> None:
    """[prequential likelihood] One partition and one label after the other."""
    spaces, (images, groups) = make_spaces(4), labels(CONTENT, 10)
    order = list(dict.fromkeys(groups.tolist()))
    groups = np.array([order.index(g) for g in groups])
    log_p = []
    for partition, clusters in zip(spaces._partitions, spaces._clusters(images), strict=True):
        total, seen = partition.log_prior, list[tuple[int, int]]()
        for cluster, group in zip(clusters.tolist(), groups.tolist(), strict=True):
            n_known = len({g for _, g in seen})
            inside = [g for c, g in seen if c == cluster]
            if n_known and inside:
                count = inside.count(group)
                prior = 0.5 * 0.7 / n_known if group < n_known else 0.5 * 0.3
                total += np.log((count + prior) / (len(inside) + 0.5))
            elif n_known:
                total += np.log(0.2 / n_known if group < n_known else 0.8)
            seen.append((cluster, group))
        log_p.append(total)
    p = np.exp(np.array(log_p) - max(log_p))
    weights = [spaces._space_weights[partition.space] for partition in spaces._partitions]
    expected = (p / p.sum()) @ np.array(weights)
    np.testing.assert_allclose(spaces.posterior(images, groups).weights, expected, rtol=1e-9)


@pytest.mark.parametrize("n_images", [1, 2, 3])
@pytest.mark.parametrize("n_clusters", [0, 5])
def test_a_few_images_are_enough(n_images: int, n_clusters: int) -> None:
    raw = {"all": stream(0, "few").normal(size=(n_images, 4)).astype(np.float32)}
    blocks = FeatureBlocks(["all"]).fit(raw).transform(raw)
    spaces = FeatureSpaces(blocks, ["all"], n_clusters, seed=0)
    found = spaces.posterior(np.array([0]), np.array([0]))
    assert np.isfinite(found.weights).all()
    assert found.n_clusters >= 2


def test_equal_images_give_finite_weights() -> None:
    rows: Floats = np.full((30, 4), 0.5, dtype=np.float32)
    blocks = {"all": rows, "all smoothed": rows}
    found = FeatureSpaces(blocks, ["all"], 0, seed=0).posterior(*labels(CONTENT % 2, 0))
    assert np.isfinite(found.weights).all()


def test_squared_distances_are_those_of_a_loop() -> None:
    rng = stream(0, "rows")
    rows, centers = (rng.normal(size=(n, 5)).astype(np.float32) for n in (7, 3))
    expected = [[((x - c) ** 2).sum() for c in centers] for x in rows]
    np.testing.assert_allclose(squared_distances(rows, centers), expected, rtol=1e-4)


def test_kmeans_accepts_fewer_distinct_rows_than_clusters() -> None:
    rows: npt.NDArray[np.float32] = np.ones((10, 3), np.float32)
    assert kmeans(rows, 4).centers.shape == (4, 3)
