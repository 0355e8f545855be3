"""Two views of vectors: each change is as large as said, equal views must be asked for."""

from typing import Any

import pytest
import torch

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.nn.augmentation import VectorViews, two_vector_views

SLICES = {"last": slice(0, 6), "middle": slice(6, 8), "early": slice(8, 20)}


def test_views_differ_and_the_same_generator_gives_them_again(rng: torch.Generator) -> None:
    vectors = torch.randn(5, 20, generator=rng)
    recipe = VectorViews(block_dropout=0.3)
    a, b = two_vector_views(vectors, recipe, torch.Generator().manual_seed(1), SLICES)
    again = two_vector_views(vectors, recipe, torch.Generator().manual_seed(1), SLICES)
    assert a.shape == b.shape == (5, 20)
    assert not torch.equal(a, b)
    assert torch.equal(a, again[0])
    assert torch.equal(b, again[1])


def test_dropout_leaves_out_as_many_values_as_said_and_keeps_the_mean(
    rng: torch.Generator,
) -> None:
    a, _ = two_vector_views(torch.ones(200, 50), VectorViews(dropout=0.3, noise=0), rng)
    assert a.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert a.mean().item() == pytest.approx(1, abs=0.02)
    assert (a == 0).float().mean().item() == pytest.approx(0.3, abs=0.02)


def test_noise_has_the_deviation_said(rng: torch.Generator) -> None:
    vectors = torch.randn(200, 50, generator=rng)
    a, b = two_vector_views(vectors, VectorViews(dropout=0, noise=0.3), rng)
    assert (a - vectors).std().item() == pytest.approx(0.3, abs=0.01)
    assert (a - vectors).mean().item() == pytest.approx(0, abs=0.01)
    assert (a - b).std().item() == pytest.approx(0.3 * 2**0.5, abs=0.01)


def test_whole_blocks_are_dropped_and_one_is_always_kept(rng: torch.Generator) -> None:
    recipe = VectorViews(dropout=0, noise=0, block_dropout=0.9)
    a, _ = two_vector_views(torch.ones(500, 20), recipe, rng, SLICES)
    stays = torch.stack([a[:, facet].mean(dim=1) for facet in SLICES.values()], dim=1)
    assert set(stays.unique().tolist()) == {0.0, 1.0}
    assert stays.sum(dim=1).min() == 1
    assert (stays.mean(dim=0) > 0.2).all()  # each of the three may be the one
    often = two_vector_views(
        torch.ones(2000, 20), VectorViews(dropout=0, noise=0, block_dropout=0.1), rng, SLICES
    )[0]
    assert (often[:, 0] == 0).float().mean().item() == pytest.approx(0.1, abs=0.03)


def test_the_ablations_leave_views_as_they_are(rng: torch.Generator) -> None:
    vectors = torch.randn(5, 20, generator=rng)
    a, b = two_vector_views(vectors, VectorViews(views="one"), rng)
    assert torch.equal(b, vectors)
    assert not torch.equal(a, vectors)
    a, b = two_vector_views(vectors, VectorViews(views="none"), rng)
    assert torch.equal(a, vectors)
    assert torch.equal(b, vectors)


def test_views_keep_the_type_of_the_vectors(rng: torch.Generator) -> None:
    vectors = torch.ones(3, 20, dtype=torch.float64)
    a, _ = two_vector_views(vectors, VectorViews(block_dropout=0.5), rng, SLICES)
    assert a.dtype == torch.float64


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"dropout": 1.0}, r"dropout must be at least 0 and below 1, got 1\.0"),
        ({"block_dropout": -0.1}, r"block_dropout must be at least 0 and below 1, got -0\.1"),
        ({"noise": -1.0}, r"noise must be >= 0, got -1\.0"),
        ({"dropout": 0, "noise": 0}, "must be greater than 0, got 0 for all"),
    ],
)
def test_invalid_values_raise_an_error(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidParameterError, match=text):
        VectorViews(**wrong)


def test_block_dropout_without_blocks_and_unknown_views_are_refused(rng: torch.Generator) -> None:
    with pytest.raises(InvalidParameterError, match=r"block_dropout=0\.5 needs `slices`, got None"):
        two_vector_views(torch.ones(2, 4), VectorViews(block_dropout=0.5), rng)
    with pytest.raises(UnknownNameError, match="did you mean 'none'"):
        VectorViews(views="nne")
