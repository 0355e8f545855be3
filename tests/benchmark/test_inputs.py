from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from likewise.benchmark.datasets.dataset import Dataset
from likewise.benchmark.inputs import for_k_means, make_inputs
from likewise.benchmark.protocol import Parts, Run
from likewise.benchmark.subset import Subset
from likewise.encoders.embed import Embeddings
from likewise.errors import DatasetError
from likewise.images.arrays import ArrayCollection
from likewise.images.folder import read_folder
from likewise.seeds import stream

PIXELS = stream(0, "inputs").integers(0, 256, (8, 12, 12, 3), dtype=np.uint8)
LABELS = {"x": np.array(["a", "b"] * 4)}
PARTS = Parts(np.array([6, 0, 3]), np.array([5, 1]))


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "cache"))


def _run(**changes: Any) -> Run:
    return Run("kmeans", dataset="toy", **changes)


def test_vectors_that_come_with_a_set_are_taken_as_they_are() -> None:
    vectors = np.arange(16, dtype=np.float32).reshape(8, 2)
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS), vectors)
    inputs = make_inputs(_run(), toy, PARTS)
    np.testing.assert_array_equal(inputs.train, vectors[[6, 0, 3]])
    np.testing.assert_array_equal(inputs.test, vectors[[5, 1]])
    assert inputs.encoder is None
    named = make_inputs(_run(encoder="bundled"), toy, PARTS)
    assert isinstance(named.train, Embeddings)


def test_rows_of_vectors_are_those_of_their_pictures() -> None:
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS))
    everything = make_inputs(_run(), toy, Parts(np.arange(8), np.empty(0, np.intp)))
    assert everything.test is None
    some = make_inputs(_run(), toy, PARTS)
    np.testing.assert_array_equal(some.train.matrix(), everything.train.matrix()[[6, 0, 3]])
    np.testing.assert_array_equal(some.test.matrix(), everything.train.matrix()[[5, 1]])
    assert some.train.slices == everything.train.slices


def test_a_file_that_broke_since_it_was_read_is_left_out_everywhere(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i, picture in enumerate(PIXELS):
        Image.fromarray(picture).save(folder / f"{i}.png")
    toy = Dataset("toy", LABELS, read_folder(folder))
    (folder / "0.png").write_bytes(b"")
    inputs = make_inputs(_run(), toy, PARTS)
    assert inputs.parts.train.tolist() == [6, 3]
    assert inputs.parts.test.tolist() == [5, 1]
    assert len(inputs.train) == 2


def test_from_scratch_the_pictures_themselves_are_given() -> None:
    toy = Dataset("toy", LABELS, ArrayCollection(PIXELS))
    inputs = make_inputs(_run(from_scratch=True), toy, PARTS)
    assert isinstance(inputs.train, Subset)
    np.testing.assert_array_equal(inputs.train.pixels(0), PIXELS[6])
    assert inputs.test.name(1) == "1"
    assert inputs.encoder is None
    assert for_k_means(inputs.train).shape == (3, 32 * 32 * 3)


def test_a_set_without_pictures_says_so() -> None:
    toy = Dataset("toy", LABELS, vectors=np.zeros((8, 2), np.float32))
    for changes in ({"from_scratch": True}, {"encoder": "bundled"}):
        with pytest.raises(
            DatasetError, match="'toy' has vectors but no pictures; leave out --enc"
        ):
            make_inputs(_run(**changes), toy, PARTS)
