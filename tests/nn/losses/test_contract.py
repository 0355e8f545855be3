"""What every loss owes: a right gradient, float32 under autocast, finite values at the edges."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.clustering import cluster_entropy_loss, soft_assignment, target_divergence
from likewise.nn.losses.constrained import constrained_nt_xent, pairwise_nll, positive_weights
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.nn.losses.dsac import center_loss, self_paced, weighted_cross_entropy

Loss = Callable[[Tensor, Tensor], Tensor]


def answers(n: int) -> Tensor:
    """Return relations for any n: 0 = 1, 0 ≠ 2, 1 ≠ 2, as far as there are images."""
    relations = torch.zeros(3, 3, dtype=torch.int8)
    relations[0, 1] = relations[1, 0] = 1
    relations[2, :2] = relations[:2, 2] = -1
    padded = torch.zeros(max(n, 3), max(n, 3), dtype=torch.int8)
    padded[:3, :3] = relations
    return padded[:n, :n]


def authors(a: Tensor, b: Tensor) -> Tensor:
    relations = answers(len(a))
    weights = positive_weights(relations, kind="authors", dtype=torch.float64)
    return constrained_nt_xent(
        a, b, relations, weights, temperature=1.0, similarity="dot", norm="global"
    )


def labels(a: Tensor) -> Tensor:
    return torch.arange(len(a)) % a.shape[1]


# Rows of two views, (n, d) each, any real numbers: every loss as a function of these.
LOSSES: dict[str, Loss] = {
    "contrast": lambda a, b: nt_xent(a, b, temperature=0.5),
    "columns": lambda a, b: nt_xent(a.softmax(1).T, b.softmax(1).T, temperature=1.0),
    "active": lambda a, b: occ_contrastive(a, b, answers(len(a)), weight=5.0, temperature=0.5),
    "active, dot, self": lambda a, b: occ_contrastive(
        a,
        b,
        answers(len(a)),
        weight=5.0,
        temperature=1.0,
        similarity="dot",
        include_self=True,
    ),
    "constrained": lambda a, b: constrained_nt_xent(a, b, answers(len(a)), temperature=0.5),
    "constrained, authors": authors,
    "balance": lambda a, b: cluster_entropy_loss(a.softmax(1), b.softmax(1)),
    "balance, pooled": lambda a, b: cluster_entropy_loss(a.softmax(1), b.softmax(1), pooled=True),
    "self-paced": lambda a, b: self_paced(a, b, pace=3.0),
    "class": lambda a, b: weighted_cross_entropy(a, labels(a), b.square().sum(1)),
    "centre": lambda a, b: center_loss(a, labels(a), torch.eye(a.shape[1]), torch.ones(len(a))),
    "pairs": lambda a, b: pairwise_nll(
        a.log_softmax(1), b.log_softmax(1), 1 - 2 * (torch.arange(len(a)) % 2)
    ),
    "student": lambda a, b: target_divergence(soft_assignment(a, b), torch.eye(len(a)).to(a)),
}
CONTRASTS = [name for name in LOSSES if "contrast" in name or "active" in name or "constr" in name]


@pytest.mark.parametrize("name", LOSSES)
class TestEveryLoss:
    @pytest.mark.parametrize("n", [1, 4])
    def test_has_the_right_gradient(self, name: str, n: int, rng: torch.Generator) -> None:
        a, b = torch.randn(2, n, 3, generator=rng, dtype=torch.float64)
        assert torch.autograd.gradcheck(LOSSES[name], (a.requires_grad_(), b.requires_grad_()))

    def test_is_as_exact_under_autocast_as_without(self, name: str, rng: torch.Generator) -> None:
        a, b = torch.randn(2, 6, 3, generator=rng)
        plain = LOSSES[name](a, b)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            lowered = LOSSES[name](a, b)
        assert lowered.dtype == torch.float32
        torch.testing.assert_close(lowered, plain, rtol=1e-6, atol=1e-6)

    def test_takes_rows_in_bf16_and_answers_in_float32(
        self, name: str, rng: torch.Generator
    ) -> None:
        a, b = torch.randn(2, 6, 3, generator=rng).bfloat16()
        rounded = LOSSES[name](a.float(), b.float())
        ours = LOSSES[name](a, b)
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, rounded, rtol=0.03, atol=0.03)

    @pytest.mark.parametrize("n", [1, 2, 5])
    @pytest.mark.parametrize("value", [0.0, 1.0, 1e-20, 60.0])
    def test_equal_rows_give_finite_values(self, name: str, n: int, value: float) -> None:
        a = torch.full((n, 3), value, requires_grad=True)
        b = torch.full((n, 3), value, requires_grad=True)
        loss = LOSSES[name](a, b)
        loss.backward()
        assert torch.isfinite(loss)
        for view in (a, b):
            grad = torch.zeros(1) if view.grad is None else view.grad
            assert grad.abs().max() < 1e4  # also at a row of zeros, which points nowhere

    def test_one_row_of_zeros_among_others_gets_no_exploding_gradient(
        self, name: str, rng: torch.Generator
    ) -> None:
        a, b = torch.randn(2, 5, 3, generator=rng)
        a[1] = 0
        LOSSES[name](a.requires_grad_(), b).backward()
        assert a.grad is not None
        assert a.grad.abs().max() < 1e3

    def test_extreme_rows_leave_everything_finite(self, name: str) -> None:
        a = torch.tensor([[90.0, -90.0, 0.0], [-90.0, 90.0, 0.0]], requires_grad=True)
        b = a.detach().flip(0).requires_grad_()
        loss = LOSSES[name](a, b)
        loss.backward()
        assert torch.isfinite(loss)
        for view in (a, b):
            assert view.grad is None or torch.isfinite(view.grad).all()

    def test_does_not_touch_what_it_is_given(self, name: str, rng: torch.Generator) -> None:
        a, b = torch.randn(2, 4, 3, generator=rng)
        before = a.clone(), b.clone()
        LOSSES[name](a, b)
        assert torch.equal(a, before[0])
        assert torch.equal(b, before[1])


@pytest.mark.parametrize("name", CONTRASTS)
def test_a_contrast_of_views_that_do_not_match_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameterError, match=r"got shapes \(3, 2\) and \(4, 2"):
        LOSSES[name](torch.ones(3, 2), torch.ones(4, 2))


def test_a_temperature_of_zero_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="temperature must be greater than 0, got 0"):
        nt_xent(torch.ones(3, 2), torch.ones(3, 2), temperature=0)
