"""The self-paced pull against its formula, its weights, and the pace."""

import pytest
import torch

from likewise.errors import InvalidParameterError
from likewise.nn.losses.dsac import self_paced, self_paced_weights


def naive_self_paced(rows: torch.Tensor, centres: torch.Tensor, pace: float) -> float:
    """[DSAC]_ Eq. (1) with the best weight looked for on a fine grid; slow on purpose."""
    total = 0.0
    grid = torch.linspace(0, 1, 200_001, dtype=torch.float64)
    for row, own in zip(rows, centres, strict=True):
        d = sum(float(x - c) ** 2 for x, c in zip(row, own, strict=True))
        total += float((grid * d + pace * (grid**2 / 2 - grid)).min())
    return total / len(rows)


@pytest.mark.parametrize("pace", [0.5, 3.0, 100.0])
def test_agrees_with_the_best_weights_one_can_find(pace: float, rng: torch.Generator) -> None:
    rows, centres = torch.randn(2, 6, 3, generator=rng, dtype=torch.float64)
    loss = self_paced(rows, centres, pace=pace).item()
    assert loss == pytest.approx(naive_self_paced(rows, centres, pace), rel=0, abs=1e-8)


def test_agrees_with_the_closed_form_in_loops(rng: torch.Generator) -> None:
    rows, centres = torch.randn(2, 6, 3, generator=rng, dtype=torch.float64)
    total = 0.0
    for row, own in zip(rows.tolist(), centres.tolist(), strict=True):
        d = sum((x - c) ** 2 for x, c in zip(row, own, strict=True))
        w = max(1 - d / 4.0, 0)
        total += w * d + 4.0 * (w**2 / 2 - w)
    assert self_paced(rows, centres, pace=4.0).item() == pytest.approx(total / 6, rel=0, abs=1e-10)


def test_an_easy_row_is_pulled_harder_for_its_distance_and_a_far_one_not_at_all() -> None:
    rows = torch.tensor([[0.5], [1.0], [9.0]], requires_grad=True)
    self_paced(rows, torch.zeros(3, 1), pace=4.0).backward()
    assert rows.grad is not None
    # gradient = 2 w x / n with w = 1 - x^2 / 4
    expected = torch.tensor([[2 * 0.9375 * 0.5 / 3], [2 * 0.75 * 1.0 / 3], [0.0]])
    torch.testing.assert_close(rows.grad, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_with_pace_zero_only_rows_at_their_centre_count(
    dtype: torch.dtype,
) -> None:
    rows = torch.ones(4, 2, dtype=dtype, requires_grad=True)
    loss = self_paced(rows, rows.detach(), pace=0.0)
    loss.backward()
    assert loss.item() == 0
    assert self_paced_weights(torch.tensor([0.0, 1.0], dtype=dtype), pace=0.0).tolist() == [1, 0]
    assert rows.grad is not None
    assert torch.isfinite(rows.grad).all()


def test_without_unlabelled_images_the_loss_is_zero() -> None:
    nothing = torch.zeros(0, 3, requires_grad=True)
    loss = self_paced(nothing, nothing.detach(), pace=1.0)
    loss.backward()
    assert loss.item() == 0


def test_invalid_centres_or_pace_raise_an_error() -> None:
    with pytest.raises(InvalidParameterError, match=r"got \(4, 2\) rows and \(3, 2"):
        self_paced(torch.ones(4, 2), torch.ones(3, 2), pace=1.0)
    with pytest.raises(InvalidParameterError, match=r"pace must be >= 0, got -1\.0"):
        self_paced(torch.ones(4, 2), torch.ones(4, 2), pace=-1.0)
