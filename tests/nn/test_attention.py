"""Context attention against loops, and that a bank makes an image independent of companions."""

import math
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.heads import ContextAttention


def naive_attention(network: ContextAttention, rows: Tensor, others: Tensor) -> Tensor:
    """One head, one row, one companion at a time; slow on purpose."""
    width = rows.shape[1] // network.n_heads
    out = torch.zeros_like(rows)
    for h in range(network.n_heads):
        part = slice(h * width, (h + 1) * width)
        for i, row in enumerate(rows):
            q = network.query.weight[part] @ row
            scores = [
                float(q @ (network.key.weight[part] @ other)) / math.sqrt(width) for other in others
            ]
            total = sum(math.exp(score) for score in scores)
            for score, other in zip(scores, others, strict=True):
                out[i, part] += math.exp(score) / total * (network.value.weight[part] @ other)
    return out


@torch.no_grad()
@pytest.mark.parametrize("n", [1, 4])
def test_plain_attention_agrees_with_the_formula(n: int, rng: torch.Generator) -> None:
    network = ContextAttention(6, n_heads=2).double()
    rows = 3 * torch.randn(n, 6, generator=rng, dtype=torch.float64)
    bank = 3 * torch.randn(5, 6, generator=rng, dtype=torch.float64)
    torch.testing.assert_close(network(rows), naive_attention(network, rows, rows))
    torch.testing.assert_close(network(rows, bank), naive_attention(network, rows, bank))


@torch.no_grad()
def test_residual_attention_adds_what_it_gathers_from_normalised_rows(
    rng: torch.Generator,
) -> None:
    network = ContextAttention(6, n_heads=2, attn="residual").double()
    rows = 3 * torch.randn(4, 6, generator=rng, dtype=torch.float64)
    normal = (rows - rows.mean(1, keepdim=True)) / (rows.var(1, correction=0) + 1e-5).sqrt()[
        :, None
    ]
    expected = rows + naive_attention(network, normal, normal)
    torch.testing.assert_close(network(rows), expected)


def test_gated_attention_starts_as_no_attention_and_learns_to_use_it(rng: torch.Generator) -> None:
    network, plain = (ContextAttention(6, n_heads=2, attn=attn) for attn in ("gated", "residual"))
    plain.load_state_dict({k: v for k, v in network.state_dict().items() if k != "gate"})
    rows = torch.randn(4, 6, generator=rng)
    out = network(rows)
    torch.testing.assert_close(out, rows)
    out.square().sum().backward()
    assert network.gate is not None
    assert network.gate.grad is not None
    assert network.gate.grad.abs().min() > 0
    with torch.no_grad():
        network.gate.fill_(1.0)
        torch.testing.assert_close(network(rows), plain(rows))


@cache
def network_rows_and_bank(attn: str) -> tuple[ContextAttention, Tensor, Tensor]:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = ContextAttention(64, attn=attn)
    generator = torch.Generator().manual_seed(1)
    rows, bank = torch.randn(2, 30, 64, generator=generator)
    return network, rows, bank


@settings(max_examples=30, deadline=None)
@given(chosen=st.lists(st.integers(0, 29), min_size=1, max_size=40))
@pytest.mark.parametrize("attn", ["plain", "residual", "gated"])
def test_with_a_bank_no_prediction_depends_on_the_other_images(
    attn: str, chosen: list[int]
) -> None:
    network, rows, bank = network_rows_and_bank(attn)
    with torch.no_grad():
        everyone, some = network(rows, bank), network(rows[chosen], bank)
    torch.testing.assert_close(some, everyone[chosen], rtol=0, atol=1e-6)


@torch.no_grad()
def test_without_a_bank_predictions_depend_on_the_batch(rng: torch.Generator) -> None:
    network = ContextAttention(16, n_heads=2)
    rows = torch.randn(6, 16, generator=rng)
    assert not torch.allclose(network(rows)[:3], network(rows[:3]), atol=1e-4)


@torch.no_grad()
def test_a_bank_of_the_whole_batch_is_the_batch(rng: torch.Generator) -> None:
    network = ContextAttention(16, n_heads=2, attn="residual")
    rows = torch.randn(6, 16, generator=rng)
    torch.testing.assert_close(network(rows, rows), network(rows))


def test_the_papers_attention_has_three_square_layers_and_nothing_else() -> None:
    shapes = {name: tuple(p.shape) for name, p in ContextAttention().named_parameters()}
    assert shapes == dict.fromkeys(["query.weight", "key.weight", "value.weight"], (512, 512))


def test_works_under_autocast_and_gives_gradients(rng: torch.Generator) -> None:
    network = ContextAttention(16, n_heads=2, attn="residual")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = network(torch.randn(6, 16, generator=rng))
    out.float().square().sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in network.parameters())


def test_heads_that_do_not_divide_the_features_and_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="got n_heads=3 for n_features=10"):
        ContextAttention(10, n_heads=3)
    with pytest.raises(InvalidParameterError, match="got n_heads=0 for n_features=10"):
        ContextAttention(10, n_heads=0)
    assert ContextAttention(10, n_heads=1)(torch.ones(2, 10)).shape == (2, 10)
    with pytest.raises(UnknownNameError, match="attention; did you mean 'residual'"):
        ContextAttention(attn="residuals")
