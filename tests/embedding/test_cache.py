"""The embedding cache: memory and disk store the same numbers, and caches of 0.1 stay valid."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from likewise.embedding.bundled.encoder import BundledEncoder
from likewise.embedding.cache import (
    EmbeddingCache,
    MemoryVectors,
    user_cache,
)
from likewise.embedding.embed import embed
from likewise.images.collection import Pixels
from likewise.images.in_memory import ArrayCollection
from likewise.operating_system import default_cache_folder
from likewise.random_streams import stream
from likewise.types import Floats

DATA = Path(__file__).with_name("data")


class Wide:
    """An encoder of which only the widths are used."""

    storage = "float16"

    def __init__(self, name: str = "wide") -> None:
        self.name, self.blocks = name, {"last": 6, "stage1": 2}

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        raise NotImplementedError


def test_memory_and_disk_store_the_same_numbers(tmp_path: Path) -> None:
    vectors = stream(0, "vectors").normal(0, 100, (5, 8)).astype(np.float32)
    memory, file = MemoryVectors(8, "float16", 5), EmbeddingCache(tmp_path).vectors(Wide())
    for stored in (memory, file):
        stored.add(["a", "b", "c"], vectors[:3])
        stored.add(["d", "e"], vectors[3:])
        assert "c" in stored
        assert "f" not in stored
    for order in ("abcde", "ecaac", ""):
        np.testing.assert_array_equal(memory.read(list(order)), file.read(list(order)))
    assert np.abs(memory.read(list("abcde")) - vectors).max() > 0  # both are rounded


def test_encoders_have_separate_vectors(tmp_path: Path) -> None:
    cache, other = EmbeddingCache(tmp_path), Wide("other")
    cache.vectors(Wide()).add(["a"], np.ones((1, 8), np.float32))
    assert "a" in cache.vectors(Wide())
    assert "a" not in cache.vectors(other)


def test_a_cache_of_release_0_1_is_used_without_computing_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = BundledEncoder("lite0", 32)
    with np.load(DATA / "release_0_1.npz") as release:
        collection = ArrayCollection(release["images"])
    computed = embed(collection, encoder)
    shutil.copytree(DATA / "cache_release_0_1", tmp_path / "cache")
    monkeypatch.delattr(BundledEncoder, "encode")
    cached = embed(collection, encoder, EmbeddingCache(tmp_path / "cache"))
    np.testing.assert_allclose(cached.matrix(), computed.matrix(), rtol=2e-3, atol=2e-3)
    assert cached.local_features is not None
    assert computed.local_features is not None
    for grid in encoder.patch_grids:
        old, new = (
            x.read(grid, slice(0, 4)) for x in (cached.local_features, computed.local_features)
        )
        assert np.abs(old - new).max() <= 1 / 16
        assert (old == new).mean() >= 0.999


def test_the_cache_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "mine"))
    assert default_cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("LIKEWISE_CACHE", "~/mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "mine"


@pytest.mark.skipif("sys.platform != 'linux'", reason="folders of Linux")
def test_without_a_choice_it_is_the_cache_folder_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_cache_folder() == tmp_path / "xdg" / "likewise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / ".cache" / "likewise"


def test_the_user_cache_is_none_if_its_folder_cannot_be_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "mine"))
    cache = user_cache()
    assert cache is not None
    assert cache.folder == tmp_path / "mine"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "file" / "below"))
    assert user_cache() is None
