"""One step follows the gradient, and refuses a loss that is no number."""

import pytest
import torch

from likewise.errors import LikewiseError, UnknownNameError
from likewise.nn.training import make_optimiser, step, train_epoch


def test_a_loss_that_is_no_number_changes_nothing() -> None:
    p = torch.nn.Parameter(torch.tensor([1.0]))
    optimiser = make_optimiser([p], "sgd", 0.1, 0.0)
    with pytest.raises(LikewiseError, match="The loss became nan"):
        step((p * torch.nan).sum(), optimiser, clip_norm=None)
    assert p.item() == 1.0


def test_clipping_shortens_the_gradient() -> None:
    p = torch.nn.Parameter(torch.tensor([0.0]))
    step((p * 100).sum(), make_optimiser([p], "sgd", 1.0, 0.0), clip_norm=0.5)
    assert p.item() == pytest.approx(-0.5, abs=1e-4)


def test_an_unknown_optimiser_is_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'adamw'"):
        make_optimiser([], "adamww", 0.1, 0.0)


def test_an_epoch_takes_one_step_a_batch_and_reports_means() -> None:
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
