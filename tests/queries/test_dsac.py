import numpy as np
import pytest

from likewise.errors import InvalidParameterError
from likewise.queries.density import (
    compactness,
    difficult,
    pace,
    pseudo_labels,
    quotas,
    representatives,
    self_paced_weights,
    shares,
)
from likewise.random_streams import stream

NOTHING = np.zeros(40, dtype=bool)


def clusters_of_twenty(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return embeddings, clusters and squared distances to the centre of two clusters."""
    embeddings = stream(seed).normal(size=(40, 3))
    clusters = np.arange(40) % 2
    embeddings[clusters == 1] += 10
    centres = np.stack([embeddings[clusters == c].mean(axis=0) for c in (0, 1)])
    return embeddings, clusters, ((embeddings - centres[clusters]) ** 2).sum(axis=1)


class TestWeights:
    def test_values_computed_by_hand(self) -> None:
        weights = self_paced_weights(np.array([0.0, 1.0, 2.0, 5.0]), 2.0)
        assert weights.tolist() == [1, 0.5, 0, 0]

    def test_they_minimise_the_self_paced_loss(self) -> None:
        """The closed form against a grid: w d + lam (w^2 / 2 - w)."""
        lam, grid = 1.7, np.linspace(0, 1, 2001)
        for distance in (0.0, 0.4, 1.6, 3.0):
            loss = grid * distance + lam * (grid**2 / 2 - grid)
            (weight,) = self_paced_weights(np.array([distance]), lam)
            assert weight == pytest.approx(grid[loss.argmin()], abs=1e-3)

    def test_the_pace_leaves_one_in_twenty_without_weight(self) -> None:
        distances = stream(0).random(1000)
        weights = self_paced_weights(distances, pace(distances))
        assert (weights == 0).sum() == 50

    def test_a_pace_of_zero_keeps_the_rows_at_their_centre(self) -> None:
        assert self_paced_weights(np.array([0.0, 1.0]), 0.0).tolist() == [1, 0]
        assert pace(np.array([])) == 0
        with pytest.raises(InvalidParameterError, match="lam must be >= 0, got -1"):
            self_paced_weights(np.array([0.0]), -1)


class TestCompactness:
    def test_it_is_the_inverse_of_the_mean_neighbour_distance(self) -> None:
        points = stream(0).normal(size=(30, 4))
        means = []
        for i in range(30):
            squared = sorted(sum((points[i] - points[j]) ** 2) for j in range(30) if j != i)
            means.append(sum(squared[:6]) / 6)
        raw = [1 / (0.1 * np.mean(means) + mean) for mean in means]
        np.testing.assert_allclose(compactness(points), raw / np.mean(raw), atol=1e-10)

    def test_its_mean_is_one_for_any_scale(self) -> None:
        points, some = stream(0).normal(size=(30, 4)), np.array([3, 8, 9])
        for unit in (1e-6, 1, 1e6):
            values = compactness(points * unit, of=some)
            assert values.mean() == pytest.approx(1)
            np.testing.assert_allclose(values, compactness(points, of=some), rtol=1e-6)

    def test_copies_are_compact_and_not_infinite(self) -> None:
        points = np.concatenate([np.zeros((8, 2)), stream(0).normal(size=(20, 2)) + 9])
        values = compactness(points)
        assert np.isfinite(values).all()
        assert values[:8].min() > values[8:].max()
        assert compactness(np.zeros((9, 2))).tolist() == [1] * 9

    def test_fewer_than_k_neighbours_or_none(self) -> None:
        assert compactness(np.array([[0.0], [1.0]])).tolist() == [1, 1]
        assert compactness(np.array([[3.0]])).tolist() == [1]


class TestChoice:
    @pytest.mark.parametrize("seed", range(10))
    def test_a_representative_is_the_most_compact_of_the_six_nearest(self, seed: int) -> None:
        embeddings, clusters, distances = clusters_of_twenty(seed)
        chosen = representatives(embeddings, clusters, distances, np.array([1, 1]), NOTHING)
        assert clusters[chosen].tolist() == [0, 1]
        for image in chosen:
            near = sorted(np.flatnonzero(clusters == clusters[image]), key=lambda i: distances[i])
            compact = compactness(embeddings)
            assert image == max(near[:6], key=lambda i: compact[i])

    @pytest.mark.parametrize("seed", range(10))
    def test_the_difficult_are_the_most_compact_of_the_six_farthest(self, seed: int) -> None:
        embeddings, clusters, distances = clusters_of_twenty(seed)
        chosen = difficult(embeddings, clusters, distances, np.array([2, 0]), NOTHING)
        far = sorted(np.flatnonzero(clusters == 0), key=lambda i: -distances[i])[:6]
        compact = compactness(embeddings)
        assert chosen.tolist() == sorted(far, key=lambda i: -compact[i])[:2]

    @pytest.mark.parametrize("n_candidates", [1, 3, 20])
    def test_so_many_candidates_as_wanted_are_compared(self, n_candidates: int) -> None:
        embeddings, clusters, distances = clusters_of_twenty()
        compact, one = compactness(embeddings), np.array([1, 0])
        nearest_first = sorted(np.flatnonzero(clusters == 0), key=lambda i: distances[i])
        for choose, ranked in ((representatives, nearest_first), (difficult, nearest_first[::-1])):
            chosen = choose(
                embeddings, clusters, distances, one, NOTHING, n_candidates=n_candidates
            )
            assert chosen.tolist() == [max(ranked[:n_candidates], key=lambda i: compact[i])]

    def test_no_candidates_raise_an_error(self) -> None:
        embeddings, clusters, distances = clusters_of_twenty()
        with pytest.raises(
            InvalidParameterError, match=r"n_candidates must be an integer >= 1, got 0"
        ):
            difficult(embeddings, clusters, distances, np.array([1]), NOTHING, n_candidates=0)

    def test_ties_of_weights_at_zero_are_broken_by_distance(self) -> None:
        embeddings, clusters, distances = clusters_of_twenty()
        lam = float(np.quantile(distances, 0.3))  # most weights are 0
        assert (self_paced_weights(distances, lam) == 0).sum() > 20
        chosen = difficult(embeddings, clusters, distances, np.array([1, 1]), NOTHING)
        for image in chosen:
            mine = distances[clusters == clusters[image]]
            assert distances[image] >= np.sort(mine)[-6]

    @pytest.mark.parametrize("choose", [representatives, difficult])
    def test_a_labelled_image_is_never_chosen(self, choose: object) -> None:
        assert callable(choose)
        embeddings, clusters, distances = clusters_of_twenty()
        is_labelled = NOTHING.copy()
        for _ in range(10):
            chosen = choose(embeddings, clusters, distances, np.array([2, 2]), is_labelled)
            assert not is_labelled[chosen].any()
            assert len(chosen) == 4
            is_labelled[chosen] = True
        left = choose(embeddings, clusters, distances, np.array([2, 2]), is_labelled)
        assert len(left) == 0

    def test_more_than_six_of_a_cluster_can_be_chosen_and_no_more_than_it_has(self) -> None:
        embeddings, clusters, distances = clusters_of_twenty()
        chosen = representatives(embeddings, clusters, distances, np.array([9, 50]), NOTHING)
        assert np.bincount(clusters[chosen]).tolist() == [9, 20]

    def test_an_empty_cluster_gets_nothing(self) -> None:
        embeddings, clusters, distances = clusters_of_twenty()
        chosen = representatives(embeddings, clusters, distances, np.array([1, 1, 1]), NOTHING)
        assert len(chosen) == 2


class TestBudget:
    def test_each_cluster_gets_the_floor_and_the_rest_is_spread_evenly(self) -> None:
        assert quotas(20, np.array([100] * 10)).tolist() == [2] * 10
        assert quotas(20, np.array([100, 300, 200])).tolist() == [6, 7, 7]
        assert quotas(2, np.array([5, 9, 7])).tolist() == [0, 1, 1]

    def test_a_small_cluster_leaves_its_share_to_others(self) -> None:
        assert quotas(12, np.array([1, 50, 60])).tolist() == [1, 5, 6]
        assert quotas(12, np.array([1, 2, 3])).tolist() == [1, 2, 3]

    def test_one_representative_the_rest_difficult(self) -> None:
        first, rest = shares(np.array([3, 2, 0]), 0)
        assert first.tolist() == [1, 1, 0]
        assert rest.tolist() == [2, 1, 0]

    def test_a_quota_of_one_alternates(self) -> None:
        """The paper's own 20 labels for 20 clusters would never ask about a difficult image."""
        quota = np.array([1, 1, 2])
        assert [a.tolist() for a in shares(quota, 0)] == [[1, 1, 1], [0, 0, 1]]
        assert [a.tolist() for a in shares(quota, 1)] == [[0, 0, 1], [1, 1, 1]]

    def test_ablations_give_all_to_one_kind(self) -> None:
        quota = np.array([3, 1])
        assert [a.tolist() for a in shares(quota, 1, only="representative")] == [[3, 1], [0, 0]]
        assert [a.tolist() for a in shares(quota, 0, only="difficult")] == [[0, 0], [3, 1]]


class TestPseudoLabels:
    CLUSTERS = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])
    DISTANCES = np.array([3.0, 1, 2, 4, 1, 2, 3, 1, 2])

    def test_the_nearest_get_the_label_of_the_labelled_image_nearest_the_centre(self) -> None:
        labels = np.array([-1, -1, 5, 6, -1, 7, -1, -1, -1])
        spread = pseudo_labels(self.CLUSTERS, self.DISTANCES, labels, 2)
        assert spread.tolist() == [-1, 5, 5, 6, 7, 7, -1, -1, -1]
        assert labels.tolist() == [-1, -1, 5, 6, -1, 7, -1, -1, -1]

    def test_more_than_a_cluster_has_is_all_of_it_and_given_labels_stand(self) -> None:
        labels = np.array([-1, -1, 5, 6, -1, 7, -1, -1, -1])
        spread = pseudo_labels(self.CLUSTERS, self.DISTANCES, labels, 1050)
        assert spread.tolist() == [5, 5, 5, 6, 7, 7, 7, -1, -1]

    def test_two_clusters_may_spread_one_class(self) -> None:
        labels = np.array([-1, 5, -1, -1, 5, -1, -1, -1, -1])
        spread = pseudo_labels(self.CLUSTERS, self.DISTANCES, labels, 2)
        assert spread.tolist() == [-1, 5, 5, -1, 5, 5, -1, -1, -1]


def test_a_cluster_whose_labels_disagree_propagates_none() -> None:
    clusters, distances = np.zeros(6, dtype=np.intp), np.arange(6.0)
    agree = np.array([1, 1, 0, -1, -1, -1])
    disagree = np.array([1, 0, 0, -1, -1, -1])
    assert pseudo_labels(clusters, distances, agree, 5).tolist() == [1, 1, 0, 1, 1, -1]
    assert pseudo_labels(clusters, distances, disagree, 5).tolist() == disagree.tolist()
