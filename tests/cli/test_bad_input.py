"""What people give by mistake, through the door: a message that names it, and nothing lost."""

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


def test_no_such_folder(run: Run) -> None:
    assert "The folder 'nowhere' does not exist" in error_of(run, "fit", "nowhere", *FIT, 2)


def test_an_empty_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "The folder 'empty' is empty" in error_of(run, "fit", "empty", *FIT, 2)
    assert not Path("empty.likewise").exists()


def test_a_folder_without_pictures(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("no picture")
    assert "contains 1 other file (1 .txt), but no images" in error_of(run, "fit", "texts", *FIT, 2)


def test_one_picture(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "one" / "a.png")
    assert "'one' holds one picture only" in error_of(run, "fit", "one", *FIT, 2)


def test_fewer_pictures_than_clusters(run: Run, photos: Path) -> None:
    message = "n_clusters=25 is more than the n_samples=24 images given"
    assert message in error_of(run, "fit", photos, *FIT, 25)


def test_files_that_cannot_be_read_are_listed_and_counted(run: Run, photos: Path) -> None:
    whole = next(photos.rglob("*.png")).read_bytes()
    (photos / "cut.png").write_bytes(whole[: len(whole) // 2])
    (photos / "zero.jpg").write_bytes(b"")
    (photos / "text.gif").write_text("words")
    result = run("fit", photos, *FIT, 3, "--json")
    row = json_of(result)
    assert row["n_images"] == 24
    assert [one["name"] for one in row["skipped"]] == ["cut.png", "text.gif", "zero.jpg"]
    assert "3 left out:" in result.stderr


def test_unknown_names_are_corrected(run: Run, photos: Path) -> None:
    assert "did you mean 'kmeans'" in error_of(run, "fit", photos, "-k", 2, "--method", "kmean")
    message = error_of(run, "fit", photos, "-k", 2, "--method", "cc", "--set", "batchsize=3")
    assert "did you mean 'batch_size'" in message
    assert "--set must be KEY=VALUE, got 'x'" in error_of(run, "fit", photos, *FIT, 2, "--set", "x")


def _too_late(*args: object, **options: object) -> None:
    raise AssertionError("the long work began")


def _fitted(run: Run, photos: Path) -> Path:
    return Path(json_of(run("fit", photos, *FIT, 3, "--json"))["session"])


@pytest.mark.parametrize("command", ["fit", "export", "answers", "predict"])
def test_a_session_of_a_newer_release(run: Run, photos: Path, command: str) -> None:
    session = _fitted(run, photos)
    with sqlite3.connect(session / "session.sqlite3") as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    words = {
        "fit": ["fit", photos, *FIT, 3],
        "export": ["export", session, "-o", "out.csv"],
        "answers": ["answers", session],
        "predict": ["predict", session, photos],
    }[command]
    assert "was written by a newer release (schema 999" in error_of(run, *words)


def test_two_writers(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    with Session.open(session):
        assert "is in use for writing by this process" in error_of(run, "fit", photos, *FIT, 3)
        done(run("answers", session))  # reading is free


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


@pytest.mark.skipif(os.geteuid() == 0, reason="for root nothing is read-only")
def test_a_place_that_cannot_be_written(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise_bench.demo.run_demo", _too_late)
    tmp_path.chmod(0o555)
    try:
        assert "read-only for you" in error_of(run, "fit", photos, *FIT, 3)
        assert "read-only for you" in error_of(run, "demo")
    finally:
        tmp_path.chmod(0o755)


def test_a_disk_that_is_read_only_says_so(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "is read-only for you; choose another place" in error_of(
        run, "embed", photos, "-o", "vectors.npy"
    )


def test_what_exists_is_not_overwritten(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    Path("out").write_text("mine")
    for words in (
        ["export", session, "-o", "out"],
        ["export", session, "--to", "folders", "-o", "out"],
        ["predict", session, photos, "-o", "out"],
        ["embed", photos, "-o", "out"],
        ["bench", "run", "--dataset", "digits", "-o", "out"],
    ):
        message = error_of(run, *words)
        assert "already exists" in message or "is not an empty folder" in message
    assert Path("out").read_text() == "mine"
    assert "is not a likewise model" in error_of(run, "fit", photos, *FIT, 3, "-o", photos)


@pytest.mark.parametrize("command", ["predict", "embed", "bench"])
def test_a_place_that_is_taken_is_refused_before_the_long_work(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in (
        "likewise.images.files.read_folder",
        "likewise.estimators.registry.load_method",
        "likewise_bench.runner.load",
    ):
        monkeypatch.setattr(name, _too_late)
    Path("out").write_text("mine")
    words: dict[str, list[object]] = {
        "predict": ["predict", "model", photos],
        "embed": ["embed", photos],
        "bench": ["bench", "run", "--dataset", "digits"],
    }
    assert "out already exists and is not overwritten" in error_of(
        run, *words[command], "-o", "out"
    )


def test_a_place_in_no_folder(run: Run, photos: Path) -> None:
    message = error_of(run, "fit", photos, *FIT, 3, "-o", "no/where/model")
    assert "no/where is not a folder; make it first" in message


def test_no_session_and_no_model(run: Run, photos: Path, tmp_path: Path) -> None:
    assert "is not a session" in error_of(run, "export", photos, "-o", "out.csv")
    assert "does not exist" in error_of(run, "answers", tmp_path / "nowhere.likewise")
    assert "is not a saved likewise model" in error_of(run, "predict", photos, photos)


def test_an_orientation_that_is_not_there(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    message = error_of(run, "export", session, "--by", "cluster", "-o", "out.csv")
    assert "'cluster' is not a known criterion; did you mean 'clusters'" in message


def test_a_session_that_was_never_trained(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    with Session.open(session) as opened:
        opened.add_criterion("mood")
    assert "'mood' has no groups yet" in error_of(run, "export", session, "--by", "mood", "-o", "o")
    message = error_of(run, "predict", session, photos, "--by", "mood")
    assert "has no answers by 'mood' to learn from; answer some with `likewise start`" in message
    shutil.rmtree(session / "models")
    assert "has no answers by" in error_of(run, "predict", session, photos, "--by", "clusters")


def test_forms_that_are_not_there(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    message = error_of(run, "export", session, "--to", "cvs", "-o", "out")
    assert "'cvs' is not a known form of export; did you mean 'csv'" in message
    assert "did you mean 'jsonl'" in error_of(run, "answers", session, "--to", "json")
    words = ["export", session, "--to", "folders", "--how", "move", "-o", "out"]
    assert "'move' is not a known way to export folders" in error_of(run, *words)


def test_answers_files_that_are_not_there(run: Run, photos: Path) -> None:
    session = _fitted(run, photos)
    assert "nowhere.jsonl" in error_of(run, "answers", session, "--import", "nowhere.jsonl")
    assert "nowhere.jsonl" in error_of(run, "fit", photos, *FIT, 3, "--answers", "nowhere.jsonl")
