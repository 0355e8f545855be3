"""Pair losses of the constrained baselines: formulas, gradients, and the angles of SpherePair."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from likewise.nn.training import generator
from likewise_bench.baselines.pair_embedding import (
    angle_likelihood,
    clipped_distance,
    equal_angle_factor,
    margin_distance,
    signed_distance,
)

RELATIONS = torch.tensor([1, -1, -1, 1])


def rows(seed: int = 0) -> tuple[Tensor, Tensor]:
    first, second = torch.randn(2, 4, 3, generator=generator(seed, "rows"), dtype=torch.double)
    return first, second


def naive(kind: str, d: float, angle: float, is_same: bool) -> float:
    """Return the loss of one pair by the formula of the docstring."""
    if kind == "signed":
        return d**2 if is_same else -min(d**2, 2.0)
    if kind == "margin":
        return d**2 if is_same else max(0.0, 2.0 - d) ** 2
    if kind == "clipped":
        return (min(d, 2.0) / 2.0 - (0 if is_same else 1)) ** 2
    if is_same:
        return -math.log((1 + math.cos(angle)) / 2)
    return -math.log(1 - (1 + math.cos(min(1.5 * angle, math.pi))) / 2)


LOSSES: dict[str, Any] = {
    "signed": lambda a, b, r: signed_distance(a, b, r, clip=2.0),
    "margin": lambda a, b, r: margin_distance(a, b, r, margin=2.0),
    "clipped": lambda a, b, r: clipped_distance(a, b, r, limit=2.0),
    "angle": lambda a, b, r: angle_likelihood(a, b, r, factor=1.5),
}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_a_pair_loss_agrees_with_its_formula(kind: str, seed: int) -> None:
    first, second = rows(seed)
    total = 0.0
    for a, b, relation in zip(first, second, RELATIONS, strict=True):
        cosine = float(a @ b / (a.norm() * b.norm()))
        total += naive(kind, float((a - b).norm()), math.acos(cosine), bool(relation > 0))
    assert LOSSES[kind](first, second, RELATIONS).item() == pytest.approx(total / 4, abs=1e-4)


@pytest.mark.parametrize("kind", LOSSES)
def test_must_links_attract_and_cannot_links_repel_up_to_a_limit(kind: str) -> None:
    near = torch.tensor([[1.0, 0.1]], requires_grad=True)
    fixed = torch.tensor([[1.0, 0.0]])
    for relation, sign in ((1, 1), (-1, -1)):
        (slope,) = torch.autograd.grad(LOSSES[kind](near, fixed, torch.tensor([relation])), near)
        assert sign * slope[0, 1] > 0
    far = torch.tensor([[-9.0, 0.1]], requires_grad=True)
    (slope,) = torch.autograd.grad(LOSSES[kind](far, fixed, torch.tensor([-1])), far)
    assert slope.abs().max() < 1e-4


def test_k_groups_fit_on_the_sphere_at_zero_loss() -> None:
    """At the corners of a regular simplex all answers are satisfied and the loss is 0."""
    for k in (2, 3, 5):
        corners = torch.eye(k) - 1 / k
        first, second = torch.triu_indices(k, k, 1)
        different = -torch.ones(len(first))
        found = angle_likelihood(
            corners[first], corners[second], different, factor=equal_angle_factor(k)
        )
        assert found.item() == pytest.approx(0, abs=1e-4)
