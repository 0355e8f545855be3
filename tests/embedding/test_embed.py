"""Embedding a collection: each image once, in order, skipping unreadable ones."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed, prefetch
from likewise.errors import EncoderError, ImageError, LikewiseWarning
from likewise.images.collection import ImageCollection, Pixels, Skipped
from likewise.images.files import read_folder
from likewise.images.in_memory import ArrayCollection
from likewise.types import Floats


class Corners:
    """A simple encoder with the blocks ``corner`` and ``mean``."""

    def __init__(self, name: str = "corners") -> None:
        self.name, self.blocks = name, {"corner": 3, "mean": 1}
        self.n_encoded = 0

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        self.n_encoded += len(images)
        corner = np.array([image[0, 0] for image in images], dtype=np.float32)
        mean = np.array([[image.mean()] for image in images], dtype=np.float32)
        return {"corner": corner.reshape(-1, 3), "mean": mean.reshape(-1, 1)}


@pytest.fixture
def corners() -> Corners:
    return Corners()


def numbered(n: int) -> ArrayCollection:
    """Return images that are numbered by their corner pixel."""
    array = np.zeros((n, 4, 4, 3), np.uint8)
    array[:, 0, 0, 0] = np.arange(n) % 256
    array[:, 0, 0, 1] = np.arange(n) // 256
    return ArrayCollection(array)


class Broken:
    """A collection in which some images have become unreadable."""

    def __init__(self, inner: ImageCollection, broken: set[int]) -> None:
        self._inner, self._broken = inner, broken

    def __len__(self) -> int:
        return len(self._inner)

    def pixels(self, index: int) -> Pixels:
        if index in self._broken:
            raise ImageError("cannot be read any more.")
        return self._inner.pixels(index)

    def identity(self, index: int) -> str:
        return self._inner.identity(index)

    def name(self, index: int) -> str:
        return f"photo{index}.jpg"


def with_and_without_cache(tmp_path: Path) -> list[EmbeddingCache | None]:
    return [None, EmbeddingCache(tmp_path / "cache"), EmbeddingCache(tmp_path / "cache")]


def test_rows_are_in_the_order_of_the_collection(tmp_path: Path, corners: Corners) -> None:
    collection = numbered(300)
    for cache in with_and_without_cache(tmp_path):
        found = embed(collection, corners, cache)
        assert list(found.blocks) == ["corner", "mean"]
        np.testing.assert_array_equal(found.blocks["corner"][:, 0], np.arange(300) % 256)
        np.testing.assert_array_equal(found.blocks["corner"][:, 1], np.arange(300) // 256)
        assert found.matrix().shape == (300, 4)
        assert found.positions is not None
        np.testing.assert_array_equal(found.positions, np.arange(300))


def test_copies_of_an_image_are_encoded_once(tmp_path: Path, corners: Corners) -> None:
    array = np.zeros((5, 4, 4, 3), np.uint8)
    array[:, 0, 0, 0] = [7, 8, 7, 7, 8]
    cache = EmbeddingCache(tmp_path)
    for _ in range(2):
        found = embed(ArrayCollection(array), corners, cache)
        np.testing.assert_array_equal(found.blocks["corner"][:, 0], [7, 8, 7, 7, 8])
        assert corners.n_encoded == 2
    assert embed(ArrayCollection(array), corners).blocks["corner"][:, 0].tolist() == [7, 8, 7, 7, 8]


def test_new_and_changed_images_are_encoded_and_others_are_not(
    folder: Path, tmp_path: Path, images: list[Pixels], corners: Corners
) -> None:
    cache = EmbeddingCache(tmp_path / "cache")
    embed(read_folder(folder), corners, cache)
    Image.fromarray(images[0][::-1]).save(folder / "1.png")
    Image.fromarray(images[0][:, ::-1]).save(folder / "5.png")
    found = embed(read_folder(folder), corners, cache)
    assert corners.n_encoded == 5 + 2
    np.testing.assert_array_equal(found.blocks["corner"][1], images[0][-1, 0])
    np.testing.assert_array_equal(found.blocks["corner"][5], images[0][0, -1])
    np.testing.assert_array_equal(found.blocks["corner"][0], images[0][0, 0])


@pytest.mark.parametrize("broken", [set(), {0}, {1, 3}, {0, 1, 2, 3, 4}])
def test_unreadable_images_are_skipped_by_name(
    tmp_path: Path, corners: Corners, broken: set[int]
) -> None:
    whole = sorted(set(range(5)) - broken)
    for cache in with_and_without_cache(tmp_path):
        found = embed(Broken(numbered(5), broken), corners, cache)
        np.testing.assert_array_equal(found.blocks["corner"][:, 0], whole)
        assert found.positions is not None
        assert found.positions.tolist() == whole
        assert list(found.skipped) == [
            Skipped(f"photo{i}.jpg", "cannot be read any more.") for i in sorted(broken)
        ]


class StopError(Exception):
    """Raised in the middle of a run."""


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path, corners: Corners) -> None:
    cache, collection = EmbeddingCache(tmp_path), numbered(100)

    def stop_at_half(done: int, total: int) -> None:
        if done >= total / 2:
            raise StopError

    with pytest.raises(StopError):
        embed(collection, corners, cache, stop_at_half)
    assert not [t for t in threading.enumerate() if t.name.startswith("decode")]
    n_cached = corners.n_encoded
    assert 50 <= n_cached < 100
    steps: list[tuple[int, int]] = []
    found = embed(collection, corners, cache, lambda done, total: steps.append((done, total)))
    assert corners.n_encoded == 100
    np.testing.assert_array_equal(found.blocks["corner"][:, 0], np.arange(100))
    assert steps[0] == (n_cached, 100)
    assert steps[-1] == (100, 100)
    assert steps == sorted(steps)


def test_only_a_few_batches_are_prefetched() -> None:
    read: list[int] = []
    taken = 0

    def note(position: int) -> Pixels | Skipped:
        read.append(position)
        return np.zeros((1, 1, 3), np.uint8)

    for batch, decoded in prefetch(note, list(range(100)), batch_size=10):
        taken += len(batch)
        assert len(decoded) == len(batch)
        assert len(read) <= taken + 2 * 10
    assert sorted(read) == list(range(100))


class WithPatches(Corners):
    """An encoder that also has a grid of two patches: the corner, twice."""

    patch_grids: ClassVar = {"corner twice": (2, 3)}

    def encode(self, images: Sequence[Pixels]) -> dict[str, Any]:
        found = super().encode(images)
        return {**found, "corner twice": np.tile(found["corner"], (1, 2)).astype(np.uint8)}


def test_local_features_are_in_the_order_of_the_collection(tmp_path: Path) -> None:
    for cache in with_and_without_cache(tmp_path):
        found = embed(numbered(300), WithPatches(), cache).local_features
        assert found is not None
        read = 16 * found.read("corner twice", slice(0, 300)) + 128
        np.testing.assert_array_equal(read[:, 1, 0], np.arange(300) % 256)
        np.testing.assert_array_equal(read[:, 0, 1], np.arange(300) // 256)


def test_missing_local_features_of_cached_images_are_added(tmp_path: Path) -> None:
    cache, counted = EmbeddingCache(tmp_path), WithPatches()
    before = embed(numbered(5), Corners(), cache)
    assert before.local_features is None
    after = embed(numbered(5), counted, cache)
    assert counted.n_encoded == 5
    assert after.local_features is not None
    np.testing.assert_array_equal(before.matrix(), after.matrix())
    embed(numbered(5), counted, cache)
    assert counted.n_encoded == 5  # the second time nothing is missing


def test_an_unreadable_cached_image_keeps_its_vector_without_local_features(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path)
    embed(numbered(5), Corners(), cache)
    found = embed(Broken(numbered(5), {3}), WithPatches(), cache)
    assert len(found) == 5
    assert found.local_features is None


def test_local_features_of_another_shape_than_declared_are_rejected(tmp_path: Path) -> None:
    encoder = WithPatches()
    encoder.patch_grids = {"corner twice": (3, 3)}  # type: ignore[misc]  # as if the code had changed
    with pytest.raises(
        EncoderError,
        match=r"shape \(2, 9\) for the feature block 'corner twice' of 2 images, got \(2, 6\)",
    ):
        embed(numbered(2), encoder, EmbeddingCache(tmp_path))


class Odd:
    """An encoder whose output does not have the declared shape."""

    name, blocks = "odd", {"last": 2}

    def __init__(self, returns: Floats | None) -> None:
        self._returns = returns

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        return {} if self._returns is None else {"last": self._returns}


@pytest.mark.parametrize(
    ("returns", "message"),
    [
        (np.zeros((3, 2, 7), np.float32), r"block 'last' of 3 images, got \(3, 2, 7\)"),
        (np.zeros((2, 2), np.float32), r"must return an array of shape \(3, 2\) .*, got \(2, 2\)"),
        (np.zeros((3, 5), np.float32), r"got \(3, 5\)"),
        (None, "got None"),
        (np.array([[0, 1], [2, np.nan], [3, 4]], np.float32), "'odd' returned NaN or infinite"),
        (np.full((3, 2), np.inf, np.float32), "returned NaN or infinite"),
    ],
)
def test_an_encoder_with_invalid_output_is_rejected(
    tmp_path: Path, returns: Floats | None, message: str
) -> None:
    cache = EmbeddingCache(tmp_path)
    with pytest.raises(EncoderError, match=message):
        embed(numbered(3), Odd(returns), cache)
    assert len(cache.vectors(Odd(None))) == 0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_damaged_rows_of_the_cache_are_computed_again(
    tmp_path: Path, corners: Corners, value: float
) -> None:
    cache = EmbeddingCache(tmp_path)
    before = embed(numbered(4), corners, cache).matrix()
    with (tmp_path / "corners.npy").open("r+b") as array:
        array.seek(-16, 2)  # the last row
        array.write(np.float32(value).tobytes())
    with pytest.warns(LikewiseWarning, match="1 cached vectors of corners were damaged; they are"):
        np.testing.assert_array_equal(embed(numbered(4), corners, cache).matrix(), before)
    assert corners.n_encoded == 5
    np.testing.assert_array_equal(embed(numbered(4), corners, cache).matrix(), before)
    assert corners.n_encoded == 5


def test_a_width_other_than_the_cached_one_is_rejected(tmp_path: Path, corners: Corners) -> None:
    cache = EmbeddingCache(tmp_path)
    embed(numbered(3), corners, cache)
    corners.blocks = {"corner": 3}  # as if the code had changed
    with pytest.raises(EncoderError, match=r"has vectors of 4 numbers .* now returns 3 numbers"):
        embed(numbered(3), corners, cache)


class Prepared:
    """An encoder with a size and `prepare`, which records the shapes of its input."""

    name, blocks, size = "prepared", {"sides": 2}, 16

    def __init__(self) -> None:
        self.shapes: set[tuple[int, ...]] = set()

    def prepare(self, pixels: Pixels) -> Pixels:
        self.shapes.add(pixels.shape)
        return pixels[:4, :4]

    def encode(self, images: Sequence[Pixels]) -> dict[str, Floats]:
        return {"sides": np.array([image.shape[:2] for image in images], np.float32)}


def test_large_jpegs_are_decoded_at_a_reduced_scale_for_an_encoder_with_a_size(
    tmp_path: Path,
) -> None:
    Image.new("RGB", (800, 640), "red").save(tmp_path / "large.jpg")
    encoder = Prepared()
    found = embed(read_folder(tmp_path), encoder)
    assert found.matrix().tolist() == [[4, 4]]
    ((height, width, _),) = encoder.shapes
    assert 2 * 16 <= height < 640
    assert 2 * 16 <= width < 800


def test_an_empty_collection_gives_zero_rows(corners: Corners) -> None:
    class Empty:
        def __len__(self) -> int:
            return 0

        def pixels(self, index: int) -> Pixels:
            raise IndexError

        identity = name = pixels

    found = embed(Empty(), corners)  # type: ignore[arg-type]  # no method is called
    assert found.matrix().shape == (0, 4)


EIGHT_LARGE_PNGS = """
import resource, struct, sys, zlib
from pathlib import Path
import numpy as np
from likewise.embedding import embed as module
from likewise.images.files import read_folder
from likewise.images.resize import resize

def chunk(kind, content):
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check

side, folder = 13_000, Path(sys.argv[1])
packer, row = zlib.compressobj(1), bytes(1 + 3 * side)
data = b"".join([*(packer.compress(row) for _ in range(side)), packer.flush()])
header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
for number in range(8):
    text = chunk(b"tEXt", b"n\\0%d" % number)
    content = header + text + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    (folder / f"{number}.png").write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + content)

class Means:
    name, blocks, size = "means", {"mean": 3}, 32
    def prepare(self, pixels):
        return resize(pixels, 32)
    def encode(self, images):
        return {"mean": np.array([image.mean((0, 1)) for image in images], np.float32)}

module.n_threads = lambda: 8
assert len(module.embed(read_folder(folder), Means())) == 8
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_eight_pngs_of_169_megapixels_are_embedded_in_less_than_two_gigabytes(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", EIGHT_LARGE_PNGS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < 2e9
