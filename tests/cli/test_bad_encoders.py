"""Encoders that cannot be had, disks that are full, pictures that changed: through the door."""

import resource
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from likewise.cli.embed import write_matrix
from likewise.encoders.embeddings import Embeddings
from likewise.errors import SessionError
from tests.cli.conftest import Run, error_of, json_of, paint


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "empty", "-k", 2),
        ("embed", "empty", "-o", "rows.npy"),
        ("start", "empty", "--by", "mood", "--no-browser"),
        ("ask", "empty"),
        ("bench", "run", "--images", "empty", "--labels", "none.csv"),
    ],
)
@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ("bundeld", "not a known encoder; did you mean 'bundled'?"),
        ("efficientnet-lite0-8", "size=8 leaves nothing to see"),
        ("./elsewhere", "The folder ./elsewhere does not exist; give a folder with a model"),
        ("./empty", "The folder empty is not a model: it has no config.json"),
    ],
)
def test_an_encoder_that_cannot_be_had_is_named_before_any_picture_is_read(
    run: Run, tmp_path: Path, words: tuple[object, ...], encoder: str, message: str
) -> None:
    """The folder is empty, and each command would say that next."""
    (tmp_path / "empty").mkdir()
    assert message in error_of(run, *words, "--encoder", encoder)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_full_disk_while_embedding_loses_nothing_and_the_next_run_goes_on(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    words = ("embed", photos, "-o", "rows.npy", "--encoder", "efficientnet-lite0-32")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))  # eight of 24 vectors
        message = error_of(run, *words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the disk is full. Nothing kept so far is lost; free some space" in message
    assert not (tmp_path / "rows.npy").exists()
    assert json_of(run(*words, "--json"))["n_images"] == 24


def test_where_vectors_cannot_be_written_the_system_says_why(tmp_path: Path) -> None:
    """NumPy itself says only how many numbers it could not write, also of a full disk."""
    found = Embeddings({"last": np.ones((200, 500), np.float32)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(SessionError, match="File too large"):
            write_matrix(tmp_path / "rows.npy", found)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [*tmp_path.iterdir()]


def test_a_picture_that_changed_is_embedded_again_and_the_others_are_not(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    def embedded(name: str) -> npt.NDArray[np.float32]:
        words = ("embed", photos, "-o", name, "--encoder", "efficientnet-lite0-32", "--json")
        json_of(run(*words))
        rows: npt.NDArray[np.float32] = np.load(tmp_path / name)
        return rows

    first = embedded("first.npy")
    paint("red", 99).save(min(photos.rglob("*.png")))
    second = embedded("second.npy")
    assert (first != second).any(axis=1).tolist() == [True] + [False] * 23
    indexes = list((tmp_path / "cache").glob("*.jsonl"))
    assert len(indexes) == 2  # of vectors, and of places
    for index in indexes:
        assert len(index.read_text().splitlines()) == 1 + 24 + 1
