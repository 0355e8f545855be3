"""Balance is 0 at even shares, its gradient points there, and empty clusters do no harm."""

import math

import pytest
import torch
from torch import Tensor

from likewise.nn.losses.clustering import cluster_entropy_loss


def naive_balance(views: list[Tensor]) -> float:
    """Sum over views of log K + sum p log p; slow on purpose."""
    total = 0.0
    for view in views:
        n, k = view.shape
        total += math.log(k)
        for column in range(k):
            share = sum(float(view[row, column]) for row in range(n)) / n
            total += share * math.log(share) if share > 0 else 0.0
    return total


@pytest.mark.parametrize(("n", "k"), [(1, 2), (5, 2), (9, 4)])
def test_agrees_with_the_formula(n: int, k: int, rng: torch.Generator) -> None:
    a, b = torch.randn(2, n, k, generator=rng, dtype=torch.float64).softmax(dim=2)
    assert cluster_entropy_loss(a, b).item() == pytest.approx(
        naive_balance([a, b]), rel=0, abs=1e-10
    )
    pooled = cluster_entropy_loss(a, b, pooled=True).item()
    assert pooled == pytest.approx(naive_balance([torch.cat([a, b])]), rel=0, abs=1e-10)


def test_even_shares_cost_nothing_and_one_cluster_for_all_costs_log_k_a_view() -> None:
    even, one = torch.eye(4), torch.tensor([[1.0, 0, 0, 0]]).repeat(4, 1)
    assert cluster_entropy_loss(even, even).item() == pytest.approx(0, abs=1e-6)
    assert cluster_entropy_loss(one, one).item() == pytest.approx(2 * math.log(4))
    assert cluster_entropy_loss(one, one, pooled=True).item() == pytest.approx(math.log(4))


@pytest.mark.parametrize("pooled", [False, True])
def test_a_step_down_the_gradient_makes_a_skewed_batch_more_even(
    pooled: bool, rng: torch.Generator
) -> None:
    skew = torch.tensor([2.0, 0.0, -1.0])
    logits = (torch.randn(16, 3, generator=rng) + skew).requires_grad_()
    p = logits.softmax(dim=1)
    cluster_entropy_loss(p, p, pooled=pooled).backward()
    assert logits.grad is not None
    share, after = p.mean(dim=0), (logits - logits.grad).softmax(dim=1).mean(dim=0)
    assert (after - 1 / 3).abs().max() < (share - 1 / 3).abs().max()
    assert after.argmax() == share.argmax()  # a small step, not an overshoot
    assert after[0] < share[0]
    assert after[2] > share[2]


def test_the_gradient_at_an_empty_cluster_is_finite_and_fills_it() -> None:
    p = torch.tensor([[1.0, 0.0]]).repeat(3, 1).requires_grad_()
    cluster_entropy_loss(p, p).backward()
    assert p.grad is not None
    assert torch.isfinite(p.grad).all()
    assert (p.grad[:, 1] < p.grad[:, 0]).all()
