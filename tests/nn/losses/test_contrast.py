"""Contrast against the formula written as loops, and where its value is known by thought."""

import math

import pytest
import torch
from torch import Tensor

from likewise.nn.losses.contrastive import nt_xent


def naive_contrast(rows_a: Tensor, rows_b: Tensor, temperature: float) -> float:
    """[CC]_ Eq. (2) without self, one exponential at a time; slow on purpose."""
    z = [row / row.norm() for row in torch.cat([rows_a, rows_b])]
    n, total = len(rows_a), 0.0
    for i, row in enumerate(z):
        rivals = sum(math.exp(row @ other / temperature) for k, other in enumerate(z) if k != i)
        total -= math.log(math.exp(row @ z[(i + n) % (2 * n)] / temperature) / rivals)
    return total / (2 * n)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("temperature", [0.1, 0.5, 2.0])
def test_agrees_with_the_formula(n: int, temperature: float, rng: torch.Generator) -> None:
    a, b = torch.randn(2, n, 5, generator=rng, dtype=torch.float64)
    loss = nt_xent(a, b, temperature=temperature)
    assert loss.item() == pytest.approx(naive_contrast(a, b, temperature), rel=0, abs=1e-10)


def test_agrees_with_the_formula_on_the_columns_of_two_clusters(rng: torch.Generator) -> None:
    a, b = torch.randn(2, 6, 2, generator=rng, dtype=torch.float64).softmax(dim=2)
    loss = nt_xent(a.T, b.T, temperature=1.0)
    assert loss.item() == pytest.approx(naive_contrast(a.T, b.T, 1.0), rel=0, abs=1e-10)


def test_does_not_care_which_view_is_which(rng: torch.Generator) -> None:
    a, b = torch.randn(2, 8, 5, generator=rng)
    ours, swapped = nt_xent(a, b, temperature=0.5), nt_xent(b, a, temperature=0.5)
    torch.testing.assert_close(ours, swapped)


def test_equal_rows_have_the_loss_log_of_the_number_of_negatives() -> None:
    """With 2n equal rows, each of the 2n - 1 others is as likely a partner."""
    z = torch.ones(4, 3)
    assert nt_xent(z, z, temperature=0.5).item() == pytest.approx(math.log(7))


def test_a_single_image_has_no_negatives_and_zero_loss(rng: torch.Generator) -> None:
    a, b = torch.randn(2, 1, 5, generator=rng)
    assert nt_xent(a, b, temperature=0.5).item() == 0


def test_survives_a_tiny_temperature_that_overflows_plain_exponentials() -> None:
    z = torch.eye(3)
    assert nt_xent(z, z, temperature=1e-3).item() == pytest.approx(0, abs=1e-6)
