"""Where vectors are kept, and that memory and disk give the same numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from likewise.embedding.cache import EmbeddingCache, MemoryVectors, default_cache_folder
from likewise.images.collection import Pixels
from likewise.seeds import stream
from likewise.types import Floats


class Wide:
    """An encoder of which only the widths matter here."""

    storage = "float16"

    def __init__(self, name: str = "wide") -> None:
        self.name, self.facets = name, {"last": 6, "stage1": 2}

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        raise NotImplementedError


def test_memory_and_disk_give_the_same_numbers(tmp_path: Path) -> None:
    vectors = stream(0, "vectors").normal(0, 100, (5, 8)).astype(np.float32)
    scratch, shelf = MemoryVectors(8, "float16", 5), EmbeddingCache(tmp_path).shelf(Wide())
    for kept in (scratch, shelf):
        kept.add(["a", "b", "c"], vectors[:3])
        kept.add(["d", "e"], vectors[3:])
        assert "c" in kept
        assert "f" not in kept
    for order in ("abcde", "ecaac", ""):
        np.testing.assert_array_equal(scratch.read(list(order)), shelf.read(list(order)))
    assert np.abs(scratch.read(list("abcde")) - vectors).max() > 0  # rounded, both of them


def test_encoders_do_not_share_a_shelf(tmp_path: Path) -> None:
    store, other = EmbeddingCache(tmp_path), Wide("other")
    store.shelf(Wide()).add(["a"], np.ones((1, 8), np.float32))
    assert "a" in store.shelf(Wide())
    assert "a" not in store.shelf(other)


def test_the_cache_is_where_the_user_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "mine"))
    assert default_cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("LIKEWISE_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_cache_folder() == tmp_path / "xdg" / "likewise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / ".cache" / "likewise"
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_cache_folder() == tmp_path / "Library" / "Caches" / "likewise"
