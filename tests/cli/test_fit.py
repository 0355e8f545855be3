"""`likewise fit`."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.constraints.serialization import answer_to_line
from likewise.estimators.registry import load_method
from likewise.images.files import read_folder
from likewise.metrics import accuracy
from likewise.session import Session
from tests.cli.conftest import Run, colour_of, done, json_of


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _answers_file(photos: Path, *pairs: tuple[int, int, str]) -> Path:
    """Write answers about image positions as JSON Lines."""
    collection = read_folder(photos)
    hashes = [collection.identity(i) for i in range(len(collection))]
    lines = [
        json.dumps(answer_to_line(Answer(Question.pair(i, j), value, criterion="colour"), hashes))
        for i, j, value in pairs
    ]
    path = photos.parent / "answers.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_fit_writes_a_model_and_a_session_that_can_be_exported(run: Run, photos: Path) -> None:
    row = json_of(run("fit", photos, "-k", 3, "--method", "kmeans", "-o", "model", "--json"))
    assert (row["n_images"], row["n_clusters"], sorted(row["sizes"])) == (24, 3, [8, 8, 8])
    assert row["criterion"] == "clusters"
    assert Path(row["session"]) == photos.with_name("photos.likewise")
    done(run("export", row["session"], "--to", "csv", "-o", "out.csv"))
    table = _table(Path("out.csv"))
    colours = [colour_of(line["path"]) for line in table]
    assert accuracy(colours, [line["cluster"] for line in table]) == 1
    assert load_method("model").n_clusters == 3


def test_without_json_a_summary_is_printed(run: Run, photos: Path) -> None:
    (photos / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")
    result = done(run("fit", photos, "-k", 3, "--method", "kmeans"))
    assert "24 images in groups of 8, 8, 8" in result.stdout
    assert "1 file skipped" in result.stdout
    assert "photos.likewise" in result.stdout
    assert "1 skipped:\n  'broken.jpg' is broken or truncated" in result.stderr


def test_method_settings_and_seed_are_used(run: Run, photos: Path) -> None:
    settings = ["--set", "epochs_per_round=2", "--set", "batch_size=8", "--seed", 5]
    done(run("fit", photos, "-k", 3, "--method", "cc", *settings, "-o", "model"))
    model: Any = load_method("model")
    assert (model.plan.epochs_per_round, model.plan.batch_size) == (2, 8)
    assert model.random_state == 5


def test_answers_are_imported_and_satisfied(run: Run, photos: Path) -> None:
    reds = [i for i, name in enumerate(_names(photos)) if colour_of(name) == "red"]
    file = _answers_file(photos, (reds[0], reds[1], "different"), (reds[1], reds[2], "same"))
    arguments = ["fit", photos, "-k", 3, "--method", "kmeans", "--by", "colour", "--answers", file]
    row = json_of(run(*arguments, "--json"))
    assert row["answers"] == {"n_imported": 2, "n_duplicates": 0, "problems": []}
    assert (row["n_answers"], row["violations"]) == (2, 1)
    done(run("export", row["session"], "--by", "colour", "-o", "out.csv"))
    cluster = {line["path"]: line["cluster"] for line in _table(Path("out.csv"))}
    first, second, third = (cluster[_names(photos)[i]] for i in reds[:3])
    assert first != second == third
    again = json_of(run(*arguments, "--json"))
    assert again["answers"] == {"n_imported": 0, "n_duplicates": 2, "problems": []}
    assert again["n_answers"] == 2


def _names(photos: Path) -> list[str]:
    collection = read_folder(photos)
    return [collection.name(i) for i in range(len(collection))]


def _bad_answers(photos: Path) -> Path:
    file = _answers_file(
        photos, (0, 1, "same"), (1, 2, "same"), (0, 2, "different"), (3, 4, "same")
    )
    lines = file.read_text().splitlines()
    unknown = json.dumps({**json.loads(lines[0]), "images": ["0" * 64, "1" * 64]})
    file.write_text("\n".join([*lines[:3], unknown, "{broken", lines[3]]) + "\n")
    return file


def test_invalid_lines_are_listed_and_the_others_imported(run: Run, photos: Path) -> None:
    file = _bad_answers(photos)
    result = run("fit", photos, "-k", 3, "--method", "kmeans", "--answers", file, "--json")
    row = json_of(result)
    assert [problem["line"] for problem in row["answers"]["problems"]] == [3, 4, 5]
    assert (row["answers"]["n_imported"], row["n_answers"]) == (3, 3)
    assert "Lines skipped:\n  line 3: contradicts earlier answers" in result.stderr


def test_strict_rejects_the_whole_file_and_trains_nothing(run: Run, photos: Path) -> None:
    arguments = ["--method", "kmeans", "--answers", _bad_answers(photos), "--strict", "-o", "model"]
    result = run("fit", photos, "-k", 3, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ") or "\nError: " in result.stderr
    for line in ("line 3", "line 4", "line 5"):
        assert line in result.stderr
    assert not Path("model").exists()
    with Session.open(photos.with_name("photos.likewise"), write=False) as session:
        assert session.answers("clusters") == []


def test_copies_of_an_image_are_in_the_same_group(run: Run, photos: Path) -> None:
    names = _names(photos)
    copy = photos / "copy.png"
    copy.write_bytes((photos / names[0]).read_bytes())
    positions = [i for i, name in enumerate(_names(photos)) if name != "copy.png"]
    file = _answers_file(photos, (positions[0], positions[1], "different"))
    done(run("fit", photos, "-k", 2, "--method", "kmeans", "--answers", file))
    done(run("export", "photos.likewise", "-o", "out.csv"))
    cluster = {line["path"]: line["cluster"] for line in _table(Path("out.csv"))}
    assert cluster["copy.png"] == cluster[names[0]] != cluster[names[1]]


def test_a_second_fit_adds_new_images_and_keeps_the_answers(run: Run, photos: Path) -> None:
    file = _answers_file(photos, (0, 1, "same"))
    arguments = ["fit", photos, "-k", 3, "--method", "kmeans", "--json"]
    json_of(run(*arguments, "--answers", file))
    names = _names(photos)
    (photos / names[5]).unlink()
    (photos / "late.png").write_bytes((photos / names[7]).read_bytes() + b"\0")
    row = json_of(run(*arguments))
    assert (row["n_images"], row["n_answers"]) == (24, 1)
    done(run("export", "photos.likewise", "-o", "out.csv"))
    paths = [line["path"] for line in _table(Path("out.csv"))]
    assert "late.png" in paths
    assert names[5] not in paths


def test_a_second_fit_can_change_the_number_of_groups(run: Run, photos: Path) -> None:
    for k in (3, 2):
        row = json_of(run("fit", photos, "-k", k, "--method", "kmeans", "--json"))
        assert len(row["sizes"]) == k
    with Session.open(photos.with_name("photos.likewise"), write=False) as session:
        assert session.criterion("clusters").n_clusters == 2


def test_the_path_of_the_session_can_be_given(run: Run, photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.likewise"
    done(run("fit", photos, "-k", 2, "--method", "kmeans", "--session", path))
    assert (path / "session.sqlite3").exists()
    assert not photos.with_name("photos.likewise").exists()


@pytest.mark.slow
def test_a_network_can_be_trained_from_scratch(run: Run, photos: Path) -> None:
    settings = ["backbone=resnet18:width=4,stem=3x3/2", "size=32", "precision=float32"]
    settings += ["epochs_per_round=1", "batch_size=8"]
    arguments = [argument for setting in settings for argument in ("--set", setting)]
    done(run("fit", photos, "-k", 2, "--method", "cc", "--from-scratch", *arguments, "-o", "model"))
    assert load_method("model").get_params()["backbone"] == "resnet18:width=4,stem=3x3/2"
    result = done(run("predict", "model", photos))
    assert len(result.stdout.splitlines()) == 25


@pytest.mark.slow
def test_training_resumes_from_a_checkpoint(run: Run, photos: Path) -> None:
    arguments = ["fit", photos, "-k", 2, "--method", "cc", "--set", "epochs_per_round=4"]
    done(run(*arguments, "-o", "straight"))
    for _ in range(2):
        done(run(*arguments, "--checkpoint", "half", "-o", "model"))
    straight, resumed = load_method("straight"), load_method("model")
    np.testing.assert_array_equal(straight.labels_, resumed.labels_)
    other = run(*arguments, "--set", "batch_size=8", "--checkpoint", "half")
    assert other.exit_code == 1
    assert "The checkpoint half was made with another parameters" in other.stderr


def test_from_scratch_and_encoder_exclude_each_other(run: Run, photos: Path) -> None:
    result = run("fit", photos, "-k", 2, "--from-scratch", "--encoder", "bundled")
    assert result.exit_code == 1
    assert "so --encoder bundled would not be used" in result.stderr
