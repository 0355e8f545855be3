"""Optimiser steps, and their state."""

import pytest
import torch

from likewise.errors import LikewiseError, UnknownNameError
from likewise.nn.training import (
    make_optimiser,
    optimiser_state,
    restore_optimiser,
    step,
    train_epoch,
)


def test_a_loss_that_is_not_finite_raises_an_error() -> None:
    p = torch.nn.Parameter(torch.tensor([1.0]))
    optimiser = make_optimiser([p], "sgd", 0.1, 0.0)
    with pytest.raises(LikewiseError, match="The loss must be finite, got nan"):
        step((p * torch.nan).sum(), optimiser, clip_norm=None)
    assert p.item() == 1.0


def test_the_gradient_is_clipped() -> None:
    p = torch.nn.Parameter(torch.tensor([0.0]))
    step((p * 100).sum(), make_optimiser([p], "sgd", 1.0, 0.0), clip_norm=0.5)
    assert p.item() == pytest.approx(-0.5, abs=1e-4)


def test_an_unknown_optimiser_raises_an_error_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'adamw'"):
        make_optimiser([], "adamww", 0.1, 0.0)


def test_an_epoch_takes_one_step_for_each_batch_and_returns_means() -> None:
    p = torch.nn.Parameter(torch.tensor([0.0]))
    batches = [torch.arange(2).numpy(), torch.arange(3).numpy()]
    means = train_epoch(
        batches,
        lambda number, indexes: {"size": p.sum() + len(indexes), "number": p.sum() + number},
        make_optimiser([p], "sgd", 1e-9, 0.0),
    )
    assert means["size"] == pytest.approx(2.5)
    assert means["number"] == pytest.approx(0.5)
    assert means["loss"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("name", "plain"), [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW)]
)
def test_the_fused_optimiser_takes_the_steps_of_the_plain_one(
    name: str, plain: type[torch.optim.Optimizer]
) -> None:
    p = torch.nn.Parameter(torch.linspace(-1, 1, 9, dtype=torch.float64))
    q = torch.nn.Parameter(p.detach().clone())
    fused = make_optimiser([p], name, 0.01, 0.1)
    other = plain([q], lr=0.01, weight_decay=0.1)  # type: ignore[call-arg]
    for _ in range(20):
        for rows, optimiser in ((p, fused), (q, other)):
            step((rows**4 + rows).sum(), optimiser, clip_norm=None)
    torch.testing.assert_close(p, q, rtol=0, atol=1e-12)
    assert fused.param_groups[0]["fused"]


def test_a_restored_optimiser_takes_the_same_step() -> None:
    def step(p: torch.nn.Parameter, optimiser: torch.optim.Optimizer) -> None:
        optimiser.zero_grad()
        (p**3).sum().backward()
        optimiser.step()

    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimiser = torch.optim.Adam([p], lr=0.1)
    step(p, optimiser)
    q = torch.nn.Parameter(p.detach().clone())
    other = torch.optim.Adam([q], lr=0.1)
    restore_optimiser(other, optimiser_state(optimiser))
    step(p, optimiser)
    step(q, other)
    assert torch.equal(p, q)
