"""From a collection to vectors: once for each picture, in order, whatever is broken."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed, prefetch
from likewise.errors import EncoderError, ImageError
from likewise.images.arrays import ArrayCollection
from likewise.images.collection import ImageCollection, Pixels
from likewise.images.files import read_folder
from likewise.images.unreadable import Skipped
from likewise.types import Floats


class Corners:
    """An encoder one can check by eye: facet ``corner`` and facet ``mean`` of a picture."""

    def __init__(self, name: str = "corners") -> None:
        self.name, self.facets = name, {"corner": 3, "mean": 1}
        self.seen = 0

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        self.seen += len(pictures)
        corner = np.array([picture[0, 0] for picture in pictures], dtype=np.float32)
        mean = np.array([[picture.mean()] for picture in pictures], dtype=np.float32)
        return {"corner": corner.reshape(-1, 3), "mean": mean.reshape(-1, 1)}


@pytest.fixture
def corners() -> Corners:
    return Corners()


def numbered(n: int) -> ArrayCollection:
    """Return pictures in which the corner says which one it is."""
    array = np.zeros((n, 4, 4, 3), np.uint8)
    array[:, 0, 0, 0] = np.arange(n) % 256
    array[:, 0, 0, 1] = np.arange(n) // 256
    return ArrayCollection(array)


class Broken:
    """A collection of which some pictures cannot be read any more."""

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


def in_store_and_without(tmp_path: Path) -> list[EmbeddingCache | None]:
    return [None, EmbeddingCache(tmp_path / "store"), EmbeddingCache(tmp_path / "store")]


def test_rows_stand_in_the_order_of_the_collection(tmp_path: Path, corners: Corners) -> None:
    collection = numbered(300)
    for store in in_store_and_without(tmp_path):
        found = embed(collection, corners, store)
        assert list(found.facets) == ["corner", "mean"]
        np.testing.assert_array_equal(found.facets["corner"][:, 0], np.arange(300) % 256)
        np.testing.assert_array_equal(found.facets["corner"][:, 1], np.arange(300) // 256)
        assert found.matrix().shape == (300, 4)
        assert found.kept is not None
        np.testing.assert_array_equal(found.kept, np.arange(300))


def test_a_picture_is_computed_once_however_often_it_is_there(
    tmp_path: Path, corners: Corners
) -> None:
    array = np.zeros((5, 4, 4, 3), np.uint8)
    array[:, 0, 0, 0] = [7, 8, 7, 7, 8]
    store = EmbeddingCache(tmp_path)
    for _ in range(2):
        found = embed(ArrayCollection(array), corners, store)
        np.testing.assert_array_equal(found.facets["corner"][:, 0], [7, 8, 7, 7, 8])
        assert corners.seen == 2
    assert embed(ArrayCollection(array), corners).facets["corner"][:, 0].tolist() == [7, 8, 7, 7, 8]


def test_what_is_new_is_added_and_what_changed_is_found_by_its_content(
    folder: Path, tmp_path: Path, pictures: list[Pixels], corners: Corners
) -> None:
    store = EmbeddingCache(tmp_path / "store")
    embed(read_folder(folder), corners, store)
    Image.fromarray(pictures[0][::-1]).save(folder / "1.png")
    Image.fromarray(pictures[0][:, ::-1]).save(folder / "5.png")
    found = embed(read_folder(folder), corners, store)
    assert corners.seen == 5 + 2
    np.testing.assert_array_equal(found.facets["corner"][1], pictures[0][-1, 0])
    np.testing.assert_array_equal(found.facets["corner"][5], pictures[0][0, -1])
    np.testing.assert_array_equal(found.facets["corner"][0], pictures[0][0, 0])


@pytest.mark.parametrize("broken", [set(), {0}, {1, 3}, {0, 1, 2, 3, 4}])
def test_broken_pictures_are_named_and_left_out(
    tmp_path: Path, corners: Corners, broken: set[int]
) -> None:
    whole = sorted(set(range(5)) - broken)
    for store in in_store_and_without(tmp_path):
        found = embed(Broken(numbered(5), broken), corners, store)
        np.testing.assert_array_equal(found.facets["corner"][:, 0], whole)
        assert found.kept is not None
        assert found.kept.tolist() == whole
        assert list(found.skipped) == [
            Skipped(f"photo{i}.jpg", "cannot be read any more.") for i in sorted(broken)
        ]


class StopError(Exception):
    """Stands for whatever ends a run in the middle."""


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, corners: Corners) -> None:
    store, collection = EmbeddingCache(tmp_path), numbered(100)

    def stop_at_half(done: int, total: int) -> None:
        if done >= total / 2:
            raise StopError

    with pytest.raises(StopError):
        embed(collection, corners, store, stop_at_half)
    assert not [t for t in threading.enumerate() if t.name.startswith("decode")]
    kept = corners.seen
    assert 50 <= kept < 100
    steps: list[tuple[int, int]] = []
    found = embed(collection, corners, store, lambda done, total: steps.append((done, total)))
    assert corners.seen == 100
    np.testing.assert_array_equal(found.facets["corner"][:, 0], np.arange(100))
    assert steps[0] == (kept, 100)
    assert steps[-1] == (100, 100)
    assert steps == sorted(steps)


def test_no_more_than_a_few_batches_are_decoded_ahead() -> None:
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


class Told(Corners):
    """An encoder that also tells two places: the corner, twice."""

    places: ClassVar = {"corner twice": (2, 3)}

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Any]:
        found = super().encode(pictures)
        return {**found, "corner twice": np.tile(found["corner"], (1, 2)).astype(np.uint8)}


def test_places_stand_in_the_order_of_the_collection(tmp_path: Path) -> None:
    for store in in_store_and_without(tmp_path):
        found = embed(numbered(300), Told(), store).places
        assert found is not None
        read = 16 * found.read("corner twice", slice(0, 300)) + 128
        np.testing.assert_array_equal(read[:, 1, 0], np.arange(300) % 256)
        np.testing.assert_array_equal(read[:, 0, 1], np.arange(300) // 256)


def test_places_that_an_earlier_release_did_not_keep_are_added(tmp_path: Path) -> None:
    store, told = EmbeddingCache(tmp_path), Told()
    before = embed(numbered(5), Corners(), store)
    assert before.places is None
    after = embed(numbered(5), told, store)
    assert told.seen == 5
    assert after.places is not None
    np.testing.assert_array_equal(before.matrix(), after.matrix())
    embed(numbered(5), told, store)
    assert told.seen == 5  # the second time nothing is missing


def test_a_picture_that_is_gone_keeps_its_vector_and_leaves_no_places(tmp_path: Path) -> None:
    store = EmbeddingCache(tmp_path)
    embed(numbered(5), Corners(), store)
    found = embed(Broken(numbered(5), {3}), Told(), store)
    assert len(found) == 5
    assert found.places is None


def test_places_of_another_shape_than_promised_are_refused(tmp_path: Path) -> None:
    told = Told()
    told.places = {"corner twice": (3, 3)}  # type: ignore[misc]  # as if the code had changed
    with pytest.raises(EncoderError, match=r"gave \(2, 6\) for the facet 'corner twice'"):
        embed(numbered(2), told, EmbeddingCache(tmp_path))


class Odd:
    """An encoder that does not keep its promise."""

    name, facets = "odd", {"last": 2}

    def __init__(self, gives: Floats | None) -> None:
        self._gives = gives

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        return {} if self._gives is None else {"last": self._gives}


@pytest.mark.parametrize(
    ("gives", "words"),
    [
        (np.zeros((3, 2, 7), np.float32), r"gave \(3, 2, 7\) for the facet 'last' of 3 pictures"),
        (np.zeros((2, 2), np.float32), r"not \(3, 2\); an encoder gives one vector an image"),
        (np.zeros((3, 5), np.float32), r"gave \(3, 5\)"),
        (None, "gave None"),
        (np.array([[0, 1], [2, np.nan], [3, 4]], np.float32), "'odd' gave NaN or infinite"),
        (np.full((3, 2), np.inf, np.float32), "gave NaN or infinite"),
    ],
)
def test_an_encoder_that_gives_no_vectors_is_refused(
    tmp_path: Path, gives: Floats | None, words: str
) -> None:
    store = EmbeddingCache(tmp_path)
    with pytest.raises(EncoderError, match=words):
        embed(numbered(3), Odd(gives), store)
    assert len(store.shelf(Odd(None))) == 0


def test_vectors_of_another_length_than_those_kept_are_refused(
    tmp_path: Path, corners: Corners
) -> None:
    store = EmbeddingCache(tmp_path)
    embed(numbered(3), corners, store)
    corners.facets = {"corner": 3}  # as if the code had changed
    with pytest.raises(EncoderError, match=r"holds 4 numbers .* now gives 3 numbers"):
        embed(numbered(3), corners, store)


class Prepared:
    """Says how large it wants its pictures, and counts what it is given."""

    name, facets, size = "prepared", {"sides": 2}, 16

    def __init__(self) -> None:
        self.shapes: set[tuple[int, ...]] = set()

    def prepare(self, pixels: Pixels) -> Pixels:
        self.shapes.add(pixels.shape)
        return pixels[:4, :4]

    def encode(self, pictures: Sequence[Pixels]) -> dict[str, Floats]:
        return {"sides": np.array([picture.shape[:2] for picture in pictures], np.float32)}


def test_large_jpegs_are_decoded_small_for_an_encoder_that_says_its_size(tmp_path: Path) -> None:
    Image.new("RGB", (800, 640), "red").save(tmp_path / "large.jpg")
    encoder = Prepared()
    found = embed(read_folder(tmp_path), encoder)
    assert found.matrix().tolist() == [[4, 4]]
    ((height, width, _),) = encoder.shapes
    assert 2 * 16 <= height < 640
    assert 2 * 16 <= width < 800


def test_an_empty_collection_has_no_rows(corners: Corners) -> None:
    class Empty:
        def __len__(self) -> int:
            return 0

        def pixels(self, index: int) -> Pixels:
            raise IndexError

        identity = name = pixels

    found = embed(Empty(), corners)  # type: ignore[arg-type]  # nothing is ever asked of it
    assert found.matrix().shape == (0, 4)
