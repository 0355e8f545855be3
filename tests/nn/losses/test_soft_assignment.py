"""DEC's soft assignment, its target and their divergence."""

import math

import pytest
import torch

from likewise.errors import InvalidParameterError
from likewise.nn.losses.clustering import sharpen, soft_assignment, target_divergence


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_assignments_agree_with_the_formula(alpha: float, rng: torch.Generator) -> None:
    rows = torch.randn(5, 3, generator=rng, dtype=torch.float64)
    centres = torch.randn(2, 3, generator=rng, dtype=torch.float64)
    q = soft_assignment(rows, centres, alpha=alpha)
    for i in range(5):
        raw = []
        for j in range(2):
            d = sum(float(rows[i, c] - centres[j, c]) ** 2 for c in range(3))
            raw.append((1 + d / alpha) ** (-(alpha + 1) / 2))
        assert q[i].tolist() == pytest.approx([r / sum(raw) for r in raw], rel=0, abs=1e-10)


def test_the_target_and_the_divergence_agree_with_the_formula(rng: torch.Generator) -> None:
    q = torch.randn(5, 3, generator=rng, dtype=torch.float64).softmax(dim=1)
    target, total = sharpen(q), 0.0
    for i in range(5):
        raw = [float(q[i, j]) ** 2 / float(q[:, j].sum()) for j in range(3)]
        p = [r / sum(raw) for r in raw]
        assert target[i].tolist() == pytest.approx(p, rel=0, abs=1e-10)
        total += sum(p[j] * math.log(p[j] / float(q[i, j])) for j in range(3))
    ours = target_divergence(q, target).item()
    assert ours == pytest.approx(total / 5, rel=0, abs=1e-10)


def test_the_gradient_on_a_centre_is_finite() -> None:
    rows = torch.zeros(2, 3, requires_grad=True)
    soft_assignment(rows, torch.zeros(2, 3))[:, 0].sum().backward()
    assert rows.grad is not None
    assert torch.isfinite(rows.grad).all()


def test_an_empty_cluster_stays_empty_and_costs_nothing() -> None:
    q = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    target = sharpen(q)
    loss = target_divergence(q, target)
    loss.backward()
    assert target.tolist() == [[1, 0], [1, 0]]
    assert loss.item() == 0
    assert q.grad is not None
    assert torch.isfinite(q.grad).all()


def test_an_alpha_without_a_distribution_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"alpha must be greater than 0, got 0\.0"):
        soft_assignment(torch.zeros(1, 2), torch.zeros(2, 2), alpha=0.0)
