"""Invalid input of the commands: an error that names it, and nothing is lost."""

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from likewise.session import Session
from tests.cli.conftest import Run, done, error_of, json_of

FIT = ("--method", "kmeans", "-k")


def test_a_folder_that_does_not_exist(run: Run) -> None:
    assert "The folder 'nowhere' does not exist" in error_of(run, "fit", "nowhere", *FIT, 2)


def test_an_empty_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "The folder 'empty' is empty" in error_of(run, "fit", "empty", *FIT, 2)
    assert not Path("empty.likewise").exists()


def test_a_folder_without_images(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("not an image")
    assert "contains 1 other file (1 .txt), but no images" in error_of(run, "fit", "texts", *FIT, 2)


def test_one_image(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "one" / "a.png")
    assert "'one' must contain at least 2 images, got 1" in error_of(run, "fit", "one", *FIT, 2)


def test_fewer_images_than_clusters(run: Run, photos: Path) -> None:
    message = "n_clusters must be at most the number of images, got n_clusters=25 for n_samples=24"
    assert message in error_of(run, "fit", photos, *FIT, 25)


def test_unreadable_files_are_listed_and_counted(run: Run, photos: Path) -> None:
    whole = next(photos.rglob("*.png")).read_bytes()
    (photos / "cut.png").write_bytes(whole[: len(whole) // 2])
    (photos / "zero.jpg").write_bytes(b"")
    (photos / "text.gif").write_text("not an image")
    result = run("fit", photos, *FIT, 3, "--json")
    row = json_of(result)
    assert row["n_images"] == 24
    assert [one["name"] for one in row["skipped"]] == ["cut.png", "text.gif", "zero.jpg"]
    assert "3 skipped:" in result.stderr


def test_the_error_for_an_unknown_name_suggests_a_correction(run: Run, photos: Path) -> None:
    assert "did you mean 'kmeans'" in error_of(run, "fit", photos, "-k", 2, "--method", "kmean")
    message = error_of(run, "fit", photos, "-k", 2, "--method", "cc", "--set", "batchsize=3")
    assert "did you mean 'batch_size'" in message
    assert "--set must be KEY=VALUE, got 'x'" in error_of(run, "fit", photos, *FIT, 2, "--set", "x")


def _too_late(*args: object, **options: object) -> None:
    raise AssertionError("a long step has started")


def _fitted(run: Run, photos: Path) -> Path:
    return Path(json_of(run("fit", photos, *FIT, 3, "--json"))["session"])


@pytest.mark.parametrize("command", ["fit", "export", "answers", "predict"])
def test_a_session_of_a_newer_release(run: Run, photos: Path, command: str) -> None:
    session = _fitted(run, photos)
    with sqlite3.connect(session / "session.sqlite3") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    arguments = {
        "fit": ["fit", photos, *FIT, 3],
        "export": ["export", session, "-o", "out.csv"],
        "answers": ["answers", session],
        "predict": ["predict", session, photos],
    }[command]
    assert "was written by a newer release (schema 999" in error_of(run, *arguments)


def test_two_writers(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    with Session.open(session):
        assert "is in use for writing by this process" in error_of(run, "fit", photos, *FIT, 3)
        done(run("answers", session))  # reading is allowed


def test_two_writers_in_two_processes(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    code = (
        "import sys; from likewise.session import Session\n"
        "with Session.open(sys.argv[1]): print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, session], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        message = error_of(run, "fit", photos, *FIT, 3)
        other.communicate()
    assert f"another process (pid {other.pid})" in message
    done(run("fit", photos, *FIT, 3))


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_is_not_writable(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise_bench.demo.run_demo", _too_late)
    tmp_path.chmod(0o555)
    try:
        assert "read-only for you" in error_of(run, "fit", photos, *FIT, 3)
        assert "read-only for you" in error_of(run, "demo")
    finally:
        tmp_path.chmod(0o755)


def test_a_read_only_disk(run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "is read-only for you; choose another path" in error_of(
        run, "embed", photos, "-o", "vectors.npy"
    )


def test_existing_files_are_not_overwritten(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    Path("out").write_text("mine")
    for arguments in (
        ["export", session, "-o", "out"],
        ["export", session, "--to", "folders", "-o", "out"],
        ["predict", session, photos, "-o", "out"],
        ["embed", photos, "-o", "out"],
        ["bench", "run", "--dataset", "digits", "-o", "out"],
    ):
        message = error_of(run, *arguments)
        assert "already exists" in message or "is not an empty folder" in message
    assert Path("out").read_text() == "mine"
    assert "is not a likewise model" in error_of(run, "fit", photos, *FIT, 3, "-o", photos)


@pytest.mark.parametrize("command", ["predict", "embed", "bench"])
def test_an_existing_output_file_raises_before_a_long_step(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in (
        "likewise.images.files.read_folder",
        "likewise.estimators.registry.load_method",
        "likewise_bench.runner.load",
    ):
        monkeypatch.setattr(name, _too_late)
    Path("out").write_text("mine")
    arguments: dict[str, list[object]] = {
        "predict": ["predict", "model", photos],
        "embed": ["embed", photos],
        "bench": ["bench", "run", "--dataset", "digits"],
    }
    assert "out already exists and " in error_of(run, *arguments[command], "-o", "out")


def test_an_output_path_in_a_folder_that_does_not_exist(run: Run, photos: Path) -> None:
    message = error_of(run, "fit", photos, *FIT, 3, "-o", "no/where/model")
    assert "no/where is not a folder; create it first" in message


def test_a_path_that_is_neither_a_session_nor_a_model(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    assert "is not a session" in error_of(run, "export", photos, "-o", "out.csv")
    assert "does not exist" in error_of(run, "answers", tmp_path / "nowhere.likewise")
    assert "is not a likewise model: it needs model.json and tensors.safetensors" in error_of(
        run, "predict", photos, photos
    )


def test_an_unknown_criterion(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    message = error_of(run, "export", session, "--by", "cluster", "-o", "out.csv")
    assert "'cluster' is not a known criterion; did you mean 'clusters'" in message


def test_a_criterion_without_training(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    with Session.open(session) as opened:
        opened.add_criterion("mood")
    assert "'mood' has no groups yet" in error_of(run, "export", session, "--by", "mood", "-o", "o")
    message = error_of(run, "predict", session, photos, "--by", "mood")
    assert (
        "has no answers for the criterion 'mood'; answer questions with `likewise start`" in message
    )
    shutil.rmtree(session / "models")
    assert "has no answers for" in error_of(run, "predict", session, photos, "--by", "clusters")


def test_unknown_formats(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    message = error_of(run, "export", session, "--to", "cvs", "-o", "out")
    assert "'cvs' is not a known format of export; did you mean 'csv'" in message
    assert "did you mean 'jsonl'" in error_of(run, "answers", session, "--to", "json")
    arguments = ["export", session, "--to", "folders", "--how", "move", "-o", "out"]
    assert "'move' is not a known way to export folders" in error_of(run, *arguments)


def test_answers_files_that_do_not_exist(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    assert "nowhere.jsonl" in error_of(run, "answers", session, "--import", "nowhere.jsonl")
    assert "nowhere.jsonl" in error_of(run, "fit", photos, *FIT, 3, "--answers", "nowhere.jsonl")
