"""DCC's pair likelihood against its formula, also where probabilities underflow."""

import math

import pytest
import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.nn.losses.constrained import pairwise_nll


def naive_pair_likelihood(p: Tensor, q: Tensor, relations: list[int]) -> float:
    """Return the mean over known pairs, one product at a time; slow on purpose."""
    costs = []
    for a, b, relation in zip(p.tolist(), q.tolist(), relations, strict=True):
        same = sum(x * y for x, y in zip(a, b, strict=True))
        if relation:
            costs.append(-math.log(same if relation == 1 else 1 - same))
    return sum(costs) / len(costs) if costs else 0.0


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("relations", [[1, -1, 0, 1], [1, 1, 1, 1], [-1] * 4, [0, 0, 0, 0]])
def test_agrees_with_the_formula(k: int, relations: list[int], rng: torch.Generator) -> None:
    logits = torch.randn(2, 4, k, generator=rng, dtype=torch.float64)
    first, second = logits.log_softmax(dim=2)
    answers = torch.tensor(relations, dtype=torch.int8)
    naive = naive_pair_likelihood(first.exp(), second.exp(), relations)
    assert pairwise_nll(first, second, answers).item() == pytest.approx(naive, abs=1e-10)


@pytest.mark.parametrize("relation", [1, -1])
def test_a_certain_mistake_costs_a_finite_amount_and_is_corrected(relation: int) -> None:
    """With logits 200 apart the wrong event has probability e^-200, which float32 calls 0."""
    sure = torch.tensor([[200.0, 0.0]])
    first = sure.clone().requires_grad_()
    second = sure if relation == -1 else sure.flip(1)
    answers = torch.tensor([relation])
    loss = pairwise_nll(first.log_softmax(1), second.log_softmax(1), answers)
    loss.backward()
    assert loss.item() == pytest.approx(200 - (math.log(2)), rel=1e-5)
    assert first.grad is not None
    assert float(first.grad[0, 0]) > 0.4  # away from the wrong cluster


def test_weights_make_one_answer_count_more(rng: torch.Generator) -> None:
    first, second = torch.randn(2, 2, 3, generator=rng).log_softmax(dim=2)
    answers = torch.tensor([1, -1])
    only_first = pairwise_nll(first[:1], second[:1], answers[:1])
    weighted = pairwise_nll(first, second, answers, torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(weighted, only_first)


def test_one_cluster_and_pairs_that_do_not_match_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="cannot-links need at least 2 clusters, got 1"):
        pairwise_nll(torch.zeros(2, 1), torch.zeros(2, 1), torch.ones(2))
    with pytest.raises(InvalidParameterError, match=r"one row for each pair, got .* and \(3,\)"):
        pairwise_nll(torch.zeros(2, 2), torch.zeros(2, 2), torch.ones(3))
