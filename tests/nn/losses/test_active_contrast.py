"""OCC's loss against Eq. (3) written as loops, and its limits."""

import math

import pytest
import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from tests.nn.losses.batches import RELATIONS, relations_of


def naive_active_contrast(
    rows_a: Tensor, rows_b: Tensor, relations: Tensor, weight: float, *, dot: bool, own: bool
) -> float:
    """[OCC]_ Eq. (3), one exponential at a time, temperature 0.5; slow on purpose."""
    n, total = len(rows_a), 0.0
    rows = [row if dot else row / row.norm() for row in torch.cat([rows_a, rows_b])]

    def e(i: int, j: int) -> float:
        return math.exp(float(rows[i] @ rows[j]) / 0.5)

    for i in range(2 * n):
        same = [j for j in range(n) if relations[i % n, j] == 1]
        positive = e(i, (i + n) % (2 * n)) + sum(weight * (e(i, j) + e(i, j + n)) for j in same)
        rivals = sum(e(i, k) for k in range(2 * n) if own or k != i)
        total -= math.log(positive / ((n + weight * len(same)) * rivals))
    return total / (2 * n)


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("weight", [0.0, 0.3, 50.0])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_agrees_with_the_formula(
    name: str, weight: float, own: bool, similarity: str, rng: torch.Generator
) -> None:
    a, b = torch.randn(2, 5, 4, generator=rng, dtype=torch.float64)
    relations = relations_of(name, 5)
    loss = occ_contrastive(
        a,
        b,
        relations,
        weight=weight,
        temperature=0.5,
        similarity=similarity,
        include_self=own,
    )
    naive = naive_active_contrast(a, b, relations, weight, dot=similarity == "dot", own=own)
    assert loss.item() == pytest.approx(naive, rel=0, abs=1e-10)


@pytest.mark.parametrize("n", [1, 2, 6])
def test_without_answers_it_is_contrast_plus_log_n(n: int, rng: torch.Generator) -> None:
    a, b = torch.randn(2, n, 4, generator=rng, dtype=torch.float64)
    nothing = torch.zeros(n, n, dtype=torch.int8)
    loss = occ_contrastive(a, b, nothing, weight=50.0, temperature=0.5)
    plain = nt_xent(a, b, temperature=0.5)
    assert loss.item() == pytest.approx(plain.item() + math.log(n), rel=0, abs=1e-10)


def test_different_does_not_enter(rng: torch.Generator) -> None:
    a, b = torch.randn(2, 5, 4, generator=rng)
    mixed, positive = relations_of("mixed", 5), relations_of("mixed", 5).clamp_min(0)
    losses = [occ_contrastive(a, b, r, weight=9.0, temperature=0.5) for r in (mixed, positive)]
    assert losses[0].item() == losses[1].item()


def test_a_heavier_answer_draws_its_pair_closer(rng: torch.Generator) -> None:
    """The gradient on a pair said to be the same grows with its weight."""
    pulls = []
    for weight in (0.0, 1.0, 10.0):
        rows = torch.eye(4, dtype=torch.float64).requires_grad_()
        relations = torch.zeros(4, 4, dtype=torch.int8)
        relations[0, 1] = relations[1, 0] = 1
        occ_contrastive(rows, rows, relations, weight=weight, temperature=0.5).backward()
        assert rows.grad is not None
        pulls.append(-float(rows.grad[0, 1]))
    assert pulls[0] < pulls[1] < pulls[2]


def test_a_negative_weight_and_an_unknown_similarity_are_refused() -> None:
    z, nothing = torch.eye(2), torch.zeros(2, 2)
    with pytest.raises(InvalidParameterError, match=r"weight must be >= 0, got -1\.0"):
        occ_contrastive(z, z, nothing, weight=-1.0, temperature=0.5)
    with pytest.raises(UnknownNameError, match="did you mean 'cosine'"):
        occ_contrastive(z, z, nothing, weight=1.0, temperature=0.5, similarity="cosin")
