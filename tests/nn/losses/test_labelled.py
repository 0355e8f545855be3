"""What DSAC does with labelled images: class loss, center_loss loss, knn_compactness."""

import math

import pytest
import torch

from likewise.errors import InvalidParameterError
from likewise.nn.losses.dsac import (
    center_loss,
    class_means,
    knn_compactness,
    weighted_cross_entropy,
)


def test_the_class_loss_agrees_with_the_formula(rng: torch.Generator) -> None:
    logits = torch.randn(5, 3, generator=rng, dtype=torch.float64)
    importance = torch.rand(5, generator=rng, dtype=torch.float64)
    labels = torch.tensor([0, 2, 1, 1, 2])
    total = 0.0
    for row, label, c in zip(logits.tolist(), labels.tolist(), importance.tolist(), strict=True):
        total -= c * math.log(math.exp(row[label]) / sum(math.exp(x) for x in row))
    ours = weighted_cross_entropy(logits, labels, importance).item()
    assert ours == pytest.approx(total / 5, rel=0, abs=1e-10)


def test_the_centre_loss_agrees_with_the_formula(rng: torch.Generator) -> None:
    rows = torch.randn(5, 3, generator=rng, dtype=torch.float64)
    importance = torch.rand(5, generator=rng, dtype=torch.float64)
    labels = torch.tensor([0, 2, 1, 1, 2])
    centres = class_means(rows, labels, 3)
    total = 0.0
    for i in range(5):
        mates = [j for j in range(5) if labels[j] == labels[i]]
        mean = [sum(float(rows[j, d]) for j in mates) / len(mates) for d in range(3)]
        total += float(importance[i]) * sum((float(rows[i, d]) - mean[d]) ** 2 for d in range(3))
    ours = center_loss(rows, labels, centres, importance, gamma=0.1).item()
    assert ours == pytest.approx(0.1 * total / 5, rel=0, abs=1e-10)
    assert center_loss(rows, labels, centres, importance).item() == pytest.approx(total / 5)


def test_the_mean_of_a_class_without_labels_is_zero() -> None:
    means = class_means(torch.ones(2, 3), torch.tensor([0, 2]), 4)
    assert means.sum(dim=1).tolist() == [3, 0, 3, 0]


def test_no_labelled_images_cost_nothing() -> None:
    rows, nobody = torch.zeros(0, 3, requires_grad=True), torch.zeros(0, dtype=torch.long)
    loss = weighted_cross_entropy(rows, nobody, torch.zeros(0))
    loss = loss + center_loss(rows, nobody, torch.zeros(3, 3), torch.zeros(0))
    loss.backward()
    assert loss.item() == 0


def test_compactness_agrees_with_the_formula(rng: torch.Generator) -> None:
    rows = torch.randn(9, 3, generator=rng, dtype=torch.float64)
    spread = []
    for i in range(9):
        far = sorted(float((rows[i] - rows[j]).square().sum()) for j in range(9) if j != i)
        spread.append(sum(far[:6]) / 6)
    floor = 0.1 * sum(spread) / 9
    raw = [1 / (s + floor) for s in spread]
    expected = torch.tensor(raw, dtype=torch.float64) * 9 / sum(raw)
    torch.testing.assert_close(knn_compactness(rows), expected, rtol=0, atol=1e-10)


def test_compactness_is_one_on_average_in_any_unit(rng: torch.Generator) -> None:
    rows = torch.randn(30, 3, generator=rng, dtype=torch.float64)
    assert knn_compactness(rows).mean().item() == pytest.approx(1)
    torch.testing.assert_close(knn_compactness(rows), knn_compactness(1000 * rows))


def test_copies_weigh_more_but_never_without_bound(rng: torch.Generator) -> None:
    copies, others = torch.ones(7, 3), 10 * torch.randn(40, 3, generator=rng)
    c = knn_compactness(torch.cat([copies, others]))
    assert torch.isfinite(c).all()
    assert c[:7].min() > c[7:].max()
    assert c[0] / c[7:].median() < 20


def test_equal_images_and_a_single_image_have_weight_one() -> None:
    assert knn_compactness(torch.ones(5, 2)).tolist() == [1] * 5
    assert knn_compactness(torch.ones(1, 2)).tolist() == [1]


def test_small_distances_far_from_the_origin_are_not_lost_in_rounding(rng: torch.Generator) -> None:
    rows = 1000 + 0.01 * torch.randn(30, 20, generator=rng)
    torch.testing.assert_close(knn_compactness(rows), knn_compactness(rows.double()).float())


def test_neighbours_may_be_looked_for_among_more_images(rng: torch.Generator) -> None:
    everyone = torch.randn(2000, 3, generator=rng)
    within, of_all = knn_compactness(everyone[:10]), knn_compactness(everyone[:10], everyone)
    assert not torch.allclose(within, of_all)


def test_one_neighbour_is_enough() -> None:
    rows = torch.tensor([[0.0], [1.0], [3.0]])  # squared distances to the nearest: 1, 1, 4
    c = knn_compactness(rows, n_neighbours=1, floor=0.5)
    raw = torch.tensor([1 / (1 + 1), 1 / (1 + 1), 1 / (4 + 1)])  # their mean is 2, so the floor 1
    torch.testing.assert_close(c, raw / raw.mean())


def test_many_rows_are_processed_in_chunks_with_the_same_result(rng: torch.Generator) -> None:
    rows = torch.randn(1100, 3, generator=rng, dtype=torch.float64)
    nearest = torch.cdist(rows, rows).square().sort(dim=1).values[:, 1:7].mean(dim=1)
    raw = 1 / (nearest + 0.1 * nearest.mean())
    torch.testing.assert_close(knn_compactness(rows), raw / raw.mean())


def test_parameters_that_leave_nothing_to_divide_by_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="got n_neighbours=0"):
        knn_compactness(torch.ones(3, 2), n_neighbours=0)
    with pytest.raises(InvalidParameterError, match=r"floor=0\.0\."):
        knn_compactness(torch.ones(3, 2), floor=0.0)
