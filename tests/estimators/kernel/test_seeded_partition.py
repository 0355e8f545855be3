"""Clusters that start from the unguided ones and follow the answers; their pseudo-labels."""

import numpy as np
import pytest

from likewise.estimators.kernel.feature_spaces import FeatureSpaces
from likewise.estimators.kernel.seeded_partition import (
    Partition,
    SeededPartition,
    central_images,
)
from likewise.estimators.kernel.training_set import TrainingSet
from likewise.types import Indexes
from tests.estimators.kernel.test_feature_spaces import COLOR, CONTENT, N, labels, make_blocks


def make_partition(n_clusters: int) -> SeededPartition:
    spaces = FeatureSpaces(make_blocks(), ["last", "palette"], n_clusters, seed=0)
    return SeededPartition(spaces, seed=0)


def purity(partition: Partition, truth: Indexes) -> float:
    counts = np.zeros((partition.n_clusters, int(truth.max()) + 1))
    np.add.at(counts, (partition.labels, truth[partition.images]), 1)
    return float(counts.max(axis=1).sum() / len(partition.images))


def test_without_labels_it_is_k_means_on_all_blocks() -> None:
    nothing = np.empty(0, dtype=np.intp)
    partition = make_partition(12).fit(nothing, nothing)
    assert sorted(partition.images.tolist()) == list(range(N))
    assert purity(partition, CONTENT * 3 + COLOR) > 0.95
    assert partition.trust == 1


@pytest.mark.parametrize("truth", [CONTENT, COLOR])
def test_a_few_labels_turn_the_clusters_to_the_criterion(truth: Indexes) -> None:
    images, groups = labels(truth, 15)
    order = list(dict.fromkeys(groups.tolist()))
    classes = np.array([order.index(g) for g in groups])
    partition = make_partition(len(order)).fit(images, classes)
    assert purity(partition, truth) > 0.95
    found = dict(zip(partition.images.tolist(), partition.labels.tolist(), strict=True))
    assert [found[i] for i in images.tolist()] == classes.tolist()


def test_labelled_images_belong_to_their_group_for_any_features() -> None:
    images = np.arange(6)
    classes = np.array([0, 1, 0, 1, 1, 0])
    partition = make_partition(4).fit(images, classes)
    found = dict(zip(partition.images.tolist(), partition.labels.tolist(), strict=True))
    assert [found[i] for i in range(6)] == classes.tolist()


def test_the_next_fit_starts_from_the_former_clusters_also_after_loading() -> None:
    images, groups = labels(CONTENT, 9)
    classes = np.array([list(dict.fromkeys(groups.tolist())).index(g) for g in groups])
    one, other = make_partition(4), make_partition(4)
    assert one.get_state() == {}
    one.fit(images[:4], classes[:4])
    other.set_state(one.get_state())
    (kept,) = other.get_state().values()
    np.testing.assert_array_equal(kept, one.get_state()["seeded_partition.clusters"])
    np.testing.assert_array_equal(
        one.fit(images, classes).labels, other.fit(images, classes).labels
    )


def _partition(n_foreign: int = 0, trust: float = 1.0) -> Partition:
    """Return 40 images in clusters 0 and 1, nearer to the centre the lower their number."""
    images = np.arange(40)
    return Partition(images, images % 2, images.astype(np.float32), np.array([0, n_foreign]), trust)


def _training(*labelled: tuple[int, int]) -> TrainingSet:
    images, classes = np.array(labelled, dtype=np.intp).reshape(-1, 2).T
    return TrainingSet(images, classes, np.ones(len(images)), 2)


def weights(found: TrainingSet, group: int) -> set[float]:
    return set(np.round(found.sample_weight[found.classes == group], 4).tolist())


def test_pseudo_labels_are_central_images_of_each_cluster() -> None:
    found = central_images(_partition(), _training((2, 0)))
    assert 2 not in found.images
    assert found.images.max() < 0.6 * 40
    assert np.bincount(found.classes).tolist() == [11, 12]  # of the inner 60 % of 19 and 20
    assert (found.images % 2 == found.classes).all()


def test_pseudo_labels_weigh_less_with_every_answer() -> None:
    few, more = _training((0, 0)), _training(*((i, 0) for i in range(0, 12, 2)))
    assert weights(central_images(_partition(), few), 0) == {round(0.2 * 6 / 2, 4)}
    assert weights(central_images(_partition(), few), 1) == {1.0}
    t = 0.2 * (1 + 20 / 49)
    assert weights(central_images(_partition(), more), 0) == {round(t / 7, 4)}
    assert weights(central_images(_partition(), more), 1) == {round(t, 4)}


def test_a_cluster_without_trust_or_with_a_foreign_label_gives_no_pseudo_labels() -> None:
    many = _training(*((i, 0) for i in range(0, 12, 2)))
    assert not len(central_images(_partition(trust=0.05), many).images)
    assert set(central_images(_partition(n_foreign=1), many).classes) == {0}
