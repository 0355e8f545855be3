import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from likewise.embedding.embeddings import Embeddings
from likewise.errors import DatasetError, LikewiseWarning
from likewise.images.files import read_folder
from likewise.images.in_memory import ArrayCollection
from likewise.random_streams import stream
from likewise_bench.datasets.archives import ArchiveCollection, members_of
from likewise_bench.datasets.base import Dataset
from likewise_bench.inputs import Subset, for_k_means, make_inputs
from likewise_bench.spec import Parts, RunSpec

PIXELS = stream(0, "inputs").integers(0, 256, (8, 12, 12, 3), dtype=np.uint8)
LABELS = {"x": np.array(["a", "b"] * 4)}
PARTS = Parts(np.array([6, 0, 3]), np.array([5, 1]))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))


def _run(**changes: Any) -> RunSpec:
    return RunSpec("kmeans", dataset="toy", **changes)


def test_vectors_of_a_data_set_are_used_unchanged() -> None:
    vectors = np.arange(16, dtype=np.float32).reshape(8, 2)
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS), vectors)
    inputs = make_inputs(_run(), toy, PARTS)
    np.testing.assert_array_equal(inputs.train, vectors[[6, 0, 3]])
    np.testing.assert_array_equal(inputs.test, vectors[[5, 1]])
    assert inputs.encoder is None
    named = make_inputs(_run(encoder="bundled"), toy, PARTS)
    assert isinstance(named.train, Embeddings)


def test_embeddings_are_in_the_order_of_the_images() -> None:
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS))
    everything = make_inputs(_run(), toy, Parts(np.arange(8), np.empty(0, np.intp)))
    assert everything.test is None
    some = make_inputs(_run(), toy, PARTS)
    np.testing.assert_array_equal(some.train.matrix(), everything.train.matrix()[[6, 0, 3]])
    np.testing.assert_array_equal(some.test.matrix(), everything.train.matrix()[[5, 1]])
    assert some.train.slices == everything.train.slices


def test_a_file_that_becomes_unreadable_is_skipped_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i, picture in enumerate(PIXELS):
        Image.fromarray(picture).save(folder / f"{i}.png")
    toy = Dataset("toy", LABELS, read_folder(folder))
    (folder / "0.png").write_bytes(b"")
    (folder / "7.png").write_bytes(b"")  # no part of the run
    with pytest.warns(LikewiseWarning) as warned:
        inputs = make_inputs(_run(), toy, PARTS)
    assert [str(one.message) for one in warned] == [
        "1 of the 5 images of 'toy' cannot be read and were skipped:\n"
        "'0.png' was changed since it was scanned; read the folder again."
    ]
    assert warned[0].filename == __file__
    assert inputs.parts.train.tolist() == [6, 3]
    assert inputs.parts.test.tolist() == [5, 1]
    assert len(inputs.train) == 2


def _zip(path: Path, broken: dict[int, bytes]) -> ArchiveCollection:
    """Return the images in a zip archive; some files are not images."""
    with zipfile.ZipFile(path, "w") as archive:
        for i, picture in enumerate(PIXELS):
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, "PNG")
            archive.writestr(f"{i}.png", broken.get(i, stream.getvalue()))
    return ArchiveCollection(list(members_of(path)))


@pytest.mark.parametrize("from_scratch", [False, True])
def test_unreadable_images_in_an_archive_are_skipped_and_named(
    tmp_path: Path, from_scratch: bool
) -> None:
    archive = tmp_path / "toy.zip"
    toy = Dataset("toy", LABELS, _zip(archive, {0: b"no picture", 5: b"", 7: b"no part of it"}))
    steps: list[tuple[str, int, int]] = []
    with pytest.warns(LikewiseWarning) as warned:
        inputs = make_inputs(
            _run(from_scratch=from_scratch),
            toy,
            PARTS,
            lambda title: lambda done, total: steps.append((title, done, total)),
        )
    (message,) = [str(one.message) for one in warned]
    head, first, second = message.split("\n")
    assert head == "2 of the 5 images of 'toy' cannot be read and were skipped:"
    assert first.startswith(f"'0.png' in '{archive}' is not a supported image: it ")
    assert second.startswith(f"'5.png' in '{archive}' is empty (0 bytes); ")
    assert (inputs.parts.train.tolist(), inputs.parts.test.tolist()) == ([6, 3], [1])
    assert (len(inputs.train), len(inputs.test)) == (2, 1)
    assert steps[-1] == ("reading images" if from_scratch else "embedding", 5, 5)
    if from_scratch:
        np.testing.assert_array_equal(inputs.train.pixels(1), PIXELS[3])
        np.testing.assert_array_equal(inputs.test.pixels(0), PIXELS[1])


def test_an_unreadable_copy_is_skipped_with_the_reason_of_the_first(tmp_path: Path) -> None:
    archive = tmp_path / "toy.zip"
    toy = Dataset("toy", LABELS, _zip(archive, {0: b"", 6: b""}))
    with pytest.warns(LikewiseWarning) as warned:
        make_inputs(_run(), toy, Parts(np.arange(8), np.empty(0, np.intp)))
    _, first, second = str(warned[0].message).split("\n")
    assert first.startswith(f"'0.png' in '{archive}' is empty (0 bytes); ")
    assert second.startswith(f"'6.png' is a copy: '0.png' in '{archive}' is empty (0 bytes); ")


def test_without_readable_held_out_images_there_is_no_test(tmp_path: Path) -> None:
    toy = Dataset("toy", LABELS, _zip(tmp_path / "toy.zip", {5: b"x", 1: b"y"}))
    for from_scratch in (False, True):
        with pytest.warns(LikewiseWarning, match="2 of the 5 images"):
            inputs = make_inputs(_run(from_scratch=from_scratch), toy, PARTS)
        assert inputs.test is None
        assert len(inputs.parts.test) == 0


def test_training_from_scratch_gets_the_images() -> None:
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS))
    inputs = make_inputs(_run(from_scratch=True), toy, PARTS)
    assert isinstance(inputs.train, Subset)
    np.testing.assert_array_equal(inputs.train.pixels(0), PIXELS[6])
    assert inputs.test.name(1) == "1"
    assert inputs.encoder is None
    assert for_k_means(inputs.train).shape == (3, 32 * 32 * 3)


def test_a_data_set_without_images_raises_an_error() -> None:
    toy = Dataset("toy", LABELS, vectors=np.zeros((8, 2), np.float32))
    for changes in ({"from_scratch": True}, {"encoder": "bundled"}):
        with pytest.raises(DatasetError, match="'toy' has only vectors, no images; omit --enc"):
            make_inputs(_run(**changes), toy, PARTS)
