"""Commands with an invalid encoder, a full disk, or changed images."""

import resource
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from likewise.cli.embed import write_matrix
from likewise.embedding.embeddings import Embeddings
from likewise.errors import SessionError
from tests.cli.conftest import Run, error_of, json_of, paint


@pytest.mark.parametrize(
    "arguments",
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
        ("efficientnet-lite0-8", "size must be between 32 and 1024 pixels, got 8."),
        ("./elsewhere", "The folder ./elsewhere does not exist; use a folder with a model"),
        ("./empty", "The folder empty is not a model: it has no config.json"),
    ],
)
def test_an_invalid_encoder_raises_before_any_image_is_read(
    run: Run, tmp_path: Path, arguments: tuple[object, ...], encoder: str, message: str
) -> None:
    """The folder is empty, which would be the next error of each command."""
    (tmp_path / "empty").mkdir()
    assert message in error_of(run, *arguments, "--encoder", encoder)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_full_disk_while_embedding_loses_nothing_and_the_next_run_continues(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    arguments = ("embed", photos, "-o", "rows.npy", "--encoder", "efficientnet-lite0-32")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))  # eight of 24 vectors
        message = error_of(run, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the disk is full. Existing vectors are not lost. Free some space" in message
    assert not (tmp_path / "rows.npy").exists()
    assert json_of(run(*arguments, "--json"))["n_images"] == 24


def test_an_error_in_writing_contains_the_reason_of_the_system(tmp_path: Path) -> None:
    """The error of NumPy contains only how many numbers were not written."""
    found = Embeddings({"last": np.ones((200, 500), np.float32)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
        with pytest.raises(SessionError, match="File too large"):
            write_matrix(tmp_path / "rows.npy", found)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [*tmp_path.iterdir()]


def test_only_changed_images_are_embedded_again(run: Run, photos: Path, tmp_path: Path) -> None:
    def embedded(name: str) -> npt.NDArray[np.float32]:
        options = ("-o", name, "--encoder", "efficientnet-lite0-32", "--json")
        json_of(run("embed", photos, *options))
        rows: npt.NDArray[np.float32] = np.load(tmp_path / name)
        return rows

    first = embedded("first.npy")
    paint("red", 99).save(min(photos.rglob("*.png")))
    second = embedded("second.npy")
    assert (first != second).any(axis=1).tolist() == [True] + [False] * 23
    indexes = list((tmp_path / "cache").glob("*.jsonl"))
    assert len(indexes) == 2  # of embeddings, and of local features
    for index in indexes:
        assert len(index.read_text().splitlines()) == 1 + 24 + 1
