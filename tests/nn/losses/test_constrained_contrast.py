"""PCL's loss against METHODS 3.3 written as loops, both normalisations, both weights."""

import math

import pytest
import torch
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.losses.constrained import constrained_nt_xent, positive_weights
from likewise.nn.losses.contrastive import nt_xent
from tests.nn.losses.batches import RELATIONS, relations_of


def naive_weight(i: int, j: int, relations: Tensor, pseudo: Tensor, kind: str) -> float:
    """[PCL]_ Eq. (2) or the authors' weights for one pair of views, strength 4."""
    n = len(relations)
    ordered = sum(int(relations[k, m] == 1) for k in range(n) for m in range(n))
    paper = kind == "paper"
    view = (ordered / 2 if ordered else 1.0) if paper else 1.0
    answer = 4.0 * n if paper else 1 + max(4 * n / (ordered + 1), 2)
    if i != j and i % n == j % n:
        return view
    if relations[i % n, j % n] == 1:
        return answer
    guessed = relations[i % n, j % n] == 0 and pseudo[i % n, j % n] == 1
    return view if guessed else 0.0


def naive_constrained_contrast(
    rows: Tensor, relations: Tensor, weights: Tensor, *, dot: bool, norm: str
) -> float:
    """Every l_ij on its own, temperature 0.5; slow on purpose."""
    m = len(rows)
    n = m // 2
    z = [row if dot else row / row.norm() for row in rows]
    cost, weight = [0.0] * m, [0.0] * m
    for i in range(m):
        v = [0 if k == i else 1 + int(relations[i % n, k % n] == -1) for k in range(m)]
        rivals = sum(v[k] * math.exp(float(z[i] @ z[k]) / 0.5) for k in range(m))
        mu = m / sum(v)
        for j in range(m):
            w = float(weights[i, j])
            cost[i] += -w * math.log(math.exp(float(z[i] @ z[j]) / 0.5) / (mu * rivals))
            weight[i] += w
    if norm == "global":
        return sum(cost) / (sum(weight) + 1e-10)
    return sum(c / w for c, w in zip(cost, weight, strict=True)) / m


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("kind", ["paper", "authors"])
@pytest.mark.parametrize("norm", ["anchor", "global"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_agrees_with_the_formula(
    name: str, kind: str, norm: str, similarity: str, rng: torch.Generator
) -> None:
    a, b = torch.randn(2, 5, 4, generator=rng, dtype=torch.float64)
    relations = relations_of(name, 5)
    weights = positive_weights(relations, kind=kind, dtype=torch.float64)
    loss = constrained_nt_xent(
        a, b, relations, weights, temperature=0.5, similarity=similarity, norm=norm
    )
    naive = naive_constrained_contrast(
        torch.cat([a, b]), relations, weights, dot=similarity == "dot", norm=norm
    )
    assert loss.item() == pytest.approx(naive, rel=0, abs=1e-10)


@pytest.mark.parametrize("name", RELATIONS)
@pytest.mark.parametrize("kind", ["paper", "authors"])
def test_weights_agree_with_the_definition(name: str, kind: str) -> None:
    relations, pseudo = relations_of(name, 5), relations_of("all same", 5)
    weights = positive_weights(relations, pseudo, kind=kind, dtype=torch.float64)
    for i in range(10):
        for j in range(10):
            naive = naive_weight(i, j, relations, pseudo, kind)
            assert float(weights[i, j]) == pytest.approx(naive, rel=0, abs=1e-12)


def test_the_papers_weights_from_the_same_relations_are_the_default(rng: torch.Generator) -> None:
    a, b = torch.randn(2, 5, 4, generator=rng)
    relations = relations_of("mixed", 5)
    weights = positive_weights(relations, kind="paper", strength=4.0)
    ours = constrained_nt_xent(a, b, relations, temperature=0.5)
    assert ours.item() == constrained_nt_xent(a, b, relations, weights, temperature=0.5).item()


@pytest.mark.parametrize("kind", ["paper", "authors"])
@pytest.mark.parametrize("norm", ["anchor", "global"])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_without_answers_it_is_contrast_plus_a_constant(
    n: int, kind: str, norm: str, rng: torch.Generator
) -> None:
    a, b = torch.randn(2, n, 4, generator=rng, dtype=torch.float64)
    nothing = torch.zeros(n, n, dtype=torch.int8)
    weights = positive_weights(nothing, kind=kind, dtype=torch.float64)
    loss = constrained_nt_xent(a, b, nothing, weights, temperature=0.5, norm=norm)
    expected = nt_xent(a, b, temperature=0.5).item() + math.log(2 * n / (2 * n - 1))
    # the authors' 1e-10 beside the sum of weights is all that may differ
    assert loss.item() == pytest.approx(expected, rel=0, abs=1e-9)


def test_different_repels_and_same_attracts() -> None:
    """On orthogonal rows the gradient of one row along another says which way it will go."""
    rows = torch.eye(4, dtype=torch.float64).requires_grad_()
    relations = torch.zeros(4, 4, dtype=torch.int8)
    relations[0, 1] = relations[1, 0] = 1
    relations[0, 2] = relations[2, 0] = -1
    constrained_nt_xent(rows, rows, relations, temperature=0.5).backward()
    assert rows.grad is not None
    same, different, unknown = -rows.grad[0, 1], -rows.grad[0, 2], -rows.grad[0, 3]
    assert same > 0
    assert different < unknown < 0


def test_a_pseudo_link_weighs_less_than_an_answer_and_nothing_if_it_contradicts_one() -> None:
    relations = torch.zeros(3, 3, dtype=torch.int8)
    relations[0, 1] = relations[1, 0] = -1
    relations[0, 2] = relations[2, 0] = 1
    pseudo = torch.ones(3, 3, dtype=torch.int8).fill_diagonal_(0)
    weights = positive_weights(relations, pseudo, kind="authors")
    assert weights[0, 1] == 0
    assert 0 < weights[1, 2] < weights[0, 2]


def test_strength_scales_what_answers_count() -> None:
    relations = relations_of("same", 8)
    weak, strong = (positive_weights(relations, strength=s)[0, 1] for s in (1.0, 3.0))
    assert float(strong) == pytest.approx(3 * float(weak))
    assert float(positive_weights(relations, strength=0)[0, 1]) == 0


def test_the_answers_of_a_row_have_a_total_weight_that_does_not_depend_on_their_number() -> None:
    """Eq. (2) with must-links counted unordered; counted ordered it would be two."""
    for n_links in (1, 3):
        relations = torch.zeros(8, 8, dtype=torch.int8)
        for k in range(n_links):
            relations[2 * k, 2 * k + 1] = relations[2 * k + 1, 2 * k] = 1
        weights = positive_weights(relations, kind="paper", strength=4.0)
        views = torch.eye(16).roll(8, dims=1) == 1
        assert float(weights[~views].sum() / weights[views].sum()) == pytest.approx(4 * 4.0)


def test_names_and_values_that_cannot_be_are_refused() -> None:
    z, nothing = torch.eye(2), torch.zeros(2, 2)
    with pytest.raises(UnknownNameError, match="not a known norm; did you mean 'anchor'"):
        constrained_nt_xent(z, z, nothing, temperature=0.5, norm="anchors")
    with pytest.raises(UnknownNameError, match="kind of positive weights; did you mean 'authors'"):
        positive_weights(nothing, kind="author")
    with pytest.raises(InvalidParameterError, match=r"strength must be >= 0, got -4\.0"):
        positive_weights(nothing, strength=-4.0)
