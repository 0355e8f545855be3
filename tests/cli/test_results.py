"""`likewise predict`, `export`, `answers` and `embed`."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.images.files import read_folder
from likewise.metrics import accuracy
from likewise.session import Session
from likewise.workspace.training_job import SessionVectors, TrainingJob
from tests.cli.conftest import COLOURS, Run, colour_of, done, error_of, json_of, paint


@pytest.fixture
def session(run: Run, photos: Path) -> Path:
    """A session of the photos with three groups, one of them named warm."""
    arguments = ["fit", photos, "-k", 3, "--method", "kmeans", "--by", "colour", "-o", "model"]
    path = Path(json_of(run(*arguments, "--json"))["session"])
    with Session.open(path) as opened:
        names = opened.images.names
        red = next(i for i, name in enumerate(names) if colour_of(name) == "red")
        blue = next(i for i, name in enumerate(names) if colour_of(name) == "blue")
        opened.tell(Answer(Question.label(red), "warm", who="Ann", criterion="colour"))
        opened.tell(Answer(Question.pair(red, blue), "different", criterion="colour"))
    return path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Three new images, one of each colour, and a broken one."""
    folder = tmp_path / "new"
    folder.mkdir()
    for name in COLOURS:
        paint(name, 99).save(folder / f"{name}.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def test_new_images_are_assigned_to_the_groups_of_the_session(
    run: Run, session: Path, new: Path
) -> None:
    row = json_of(run("predict", session, new, "--by", "colour", "--json"))
    assert [one["name"] for one in row["skipped"]] == ["broken.png"]
    images = row["images"]
    assert sorted(image["path"] for image in images) == ["blue.png", "green.png", "red.png"]
    assert len({image["cluster"] for image in images}) == 3
    warm = [image["path"] for image in images if image["name"] == "warm"]
    assert warm == ["red.png"]
    assert all(1 / 3 <= image["confidence"] <= 1 for image in images)


def answered(session: Path, by: str = "colour") -> None:
    """Name the groups of a session and answer two choices for each, as on the page."""
    keys, colours = ("g1", "g2", "g3"), ("green", "red", "blue")
    with Session.open(session) as opened:
        opened.make_groups(by, ["Grass", "Brick", "Sky"])
        names = list(enumerate(opened.images.names))
        of = {colour: [i for i, n in names if colour_of(n) == colour] for colour in colours}
        faces = tuple(of[colour][0] for colour in colours)
        for key, colour in zip(keys, colours, strict=True):
            for image in of[colour][1:3]:
                question = Question.choice(image, faces, keys)
                opened.tell(Answer(question, key, criterion=by))


def test_predict_uses_the_group_names_of_a_session_answered_on_the_page(
    run: Run, photos: Path, new: Path
) -> None:
    with Session.create(Path("page.likewise"), read_folder(photos)) as opened:
        opened.add_criterion("colour", 3)
    answered(Path("page.likewise"))
    images = json_of(run("predict", "page.likewise", new, "--by", "colour", "--json"))["images"]
    found = {image["path"]: image["name"] for image in images}
    assert found == {"blue.png": "Sky", "green.png": "Grass", "red.png": "Brick"}
    assert all(image["confidence"] > 0.5 for image in images)


def test_predict_changes_nothing_in_the_session_also_while_its_page_is_open(
    run: Run, photos: Path, new: Path
) -> None:
    with Session.create(Path("page.likewise"), read_folder(photos)) as opened:
        opened.add_criterion("colour", 3)
    answered(Path("page.likewise"))
    with Session.open(Path("page.likewise")):  # as an open page does
        images = json_of(run("predict", "page.likewise", new, "--json"))["images"]
    assert {image["path"]: image["name"] for image in images}["red.png"] == "Brick"
    assert list(Path("page.likewise/models").rglob("*")) == []


def test_a_model_older_than_the_last_training_is_not_used(
    run: Run, photos: Path, new: Path
) -> None:
    """The page trained after `fit`: its results are shown, exported and predicted."""
    done(run("fit", photos, "-k", 3, "--method", "kmeans", "--by", "colour"))
    session = Path("photos.likewise")
    answered(session)
    with Session.open(session, write=False) as opened:
        vectors = SessionVectors.load(opened, "bundled", lambda _: None)
        TrainingJob(opened, opened.criterion("colour"), vectors, lambda _: None).run(
            opened.criterion("colour")
        )
    images = json_of(run("predict", session, new, "--by", "colour", "--json"))["images"]
    assert {image["path"]: image["name"] for image in images}["red.png"] == "Brick"


def test_fit_keeps_existing_groups(run: Run, photos: Path, new: Path) -> None:
    with Session.create(Path("page.likewise"), read_folder(photos)) as opened:
        opened.add_criterion("colour", 3)
    answered(Path("page.likewise"))
    fit = ["fit", photos, "--session", "page.likewise", "-k", 3, "--by", "colour", "--seed", 1]
    done(run(*fit))
    done(run("export", "page.likewise", "--by", "colour", "-o", "found.csv"))
    with open("found.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = {"blue": "Sky", "green": "Grass", "red": "Brick"}
    assert all(row["name"] == names[colour_of(row["path"])] for row in rows)
    images = json_of(run("predict", "page.likewise", new, "--by", "colour", "--json"))["images"]
    assert {i["path"]: i["name"] for i in images} == {f"{c}.png": n for c, n in names.items()}


def test_fit_sets_two_groups_of_the_criterion(run: Run, photos: Path) -> None:
    done(run("fit", photos, "-k", 2, "--method", "kmeans", "--by", "warmth"))
    with Session.open(Path("photos.likewise"), write=False) as opened:
        assert opened.criterion("warmth").two_groups
    done(run("fit", photos, "-k", 3, "--method", "kmeans", "--by", "warmth"))
    with Session.open(Path("photos.likewise"), write=False) as opened:
        assert not opened.criterion("warmth").two_groups


def test_a_model_predicts_without_its_session(run: Run, session: Path, new: Path) -> None:
    by_session = json_of(run("predict", session, new, "--json"))["images"]
    by_model = json_of(run("predict", "model", new, "--json"))["images"]
    pairs = zip(by_session, by_model, strict=True)
    assert all(one["cluster"] == other["cluster"] for one, other in pairs)


def test_predictions_are_a_table_on_stdout_or_in_a_file(run: Run, session: Path, new: Path) -> None:
    result = done(run("predict", session, new))
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["path", "cluster", "name", "confidence"]
    assert len(rows) == 4
    done(run("predict", session, new, "-o", "out.csv"))
    assert Path("out.csv").read_text() == result.stdout
    row = json_of(run("predict", session, new, "-o", "other.csv", "--json"))
    assert (row["n_images"], row["out"]) == (3, "other.csv")
    assert "images" not in row


def test_an_exported_table_has_one_line_for_each_image(
    run: Run, session: Path, photos: Path
) -> None:
    row = json_of(run("export", session, "--by", "colour", "-o", "out.csv", "--json"))
    assert row == {"out": "out.csv", "n_written": 24, "skipped": []}
    with Path("out.csv").open(newline="") as stream:
        table = list(csv.DictReader(stream))
    assert list(table[0]) == ["path", "cluster", "name", "confidence", "answered"]
    assert accuracy([colour_of(line["path"]) for line in table], [t["cluster"] for t in table]) == 1
    assert sum(line["answered"] == "true" for line in table) == 1


def test_the_default_output_path_of_an_export_is_named_after_the_criterion(
    run: Run, session: Path
) -> None:
    for to, name in [("csv", "colour.csv"), ("html", "colour.html"), ("folders", "colour")]:
        assert (
            json_of(run("export", session, "--by", "colour", "--to", to, "--json"))["out"] == name
        )
        assert Path(name).exists()
    again = run("export", session, "--by", "colour", "--to", "csv")
    assert "colour.csv already exists" in again.stderr


def test_folders_inside_the_image_folder_raise(
    run: Run, session: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos)
    message = error_of(run, "export", session, "--by", "colour", "--to", "folders")
    assert f"{photos}/colour is inside {photos}, the image folder" in message
    assert f"choose a folder outside it (-o), such as '{photos} sorted'" in message
    assert not (photos / "colour").exists()


def test_unsure_images_can_have_a_separate_folder(run: Run, session: Path) -> None:
    arguments = ["export", session, "--by", "colour", "--unsure-below"]
    done(run(*arguments, 1, "--to", "folders", "-o", "sorted"))
    assert len(list(Path("sorted/unsure").iterdir())) == 23  # a person placed one of them
    done(run(*arguments, 1, "-o", "out.csv"))
    assert Path("out.csv").read_text().count(",-1,unsure,") == 23
    assert "unsure_below must be a number from 0 to 1, got 7.0" in run(*arguments, 7).stderr
    assert (
        "--unsure-below needs --to csv, folders or xmp, got --to html"
        in run(*arguments, 0.5, "--to", "html").stderr
    )


def test_images_that_differ_only_in_their_extension_are_exported_to_fiftyone(
    run: Run, session: Path, photos: Path
) -> None:
    first = next(photos.rglob("red*.png"))
    paint("blue", 77).save(first.with_suffix(".bmp"))
    with Session.open(session) as opened:
        opened.sync(read_folder(photos))
    row = json_of(run("export", session, "--to", "fiftyone", "-o", "f.json", "--json"))
    labels = json.loads(Path("f.json").read_text())["labels"]
    assert row["n_written"] == len(labels) == 25
    assert {str(first), str(first.with_suffix(".bmp"))} <= labels.keys()


def test_label_studio_gets_tasks_and_the_configuration(run: Run, session: Path) -> None:
    done(run("export", session, "--to", "labelstudio"))
    assert len(json.loads(Path("colour.labelstudio.json").read_text())) == 25
    assert '<Choice value="warm"' in Path("colour.labelstudio.xml").read_text()


def test_keywords_are_written_next_to_the_images_or_below_a_folder(
    run: Run, session: Path, photos: Path
) -> None:
    done(run("export", session, "--to", "xmp", "-o", "keywords"))
    assert not list(photos.rglob("*.xmp"))
    written = {path.relative_to("keywords").as_posix() for path in Path("keywords").rglob("*.xmp")}
    images = {f"{path.relative_to(photos).as_posix()}.xmp" for path in photos.rglob("*.png")}
    assert written == images
    done(run("export", session, "--to", "xmp"))
    assert len(list(photos.rglob("*.xmp"))) == 24


@pytest.mark.parametrize("options", [["--to", "xmp"], ["--to", "folders", "--how", "symlink"]])
def test_keywords_are_never_written_into_originals(
    run: Run, session: Path, options: list[str]
) -> None:
    message = error_of(run, "export", session, *options, "--write-tags")
    assert "--write-tags writes keywords into copies, so it needs --to folders" in message


@pytest.mark.parametrize("how", ["copy", "symlink", "hardlink"])
def test_folders_contain_the_images_of_their_group(run: Run, session: Path, how: str) -> None:
    result = done(run("export", session, "--to", "folders", "--how", how, "-o", "sorted"))
    assert "24 images written to sorted" in result.stdout
    warm = sorted(Path("sorted/warm").iterdir())
    assert {colour_of(path.name) for path in warm} == {"red"}
    assert len(warm) == 8
    assert warm[0].is_symlink() == (how == "symlink")
    assert (warm[0].stat().st_nlink > 1) == (how == "hardlink")


def test_missing_images_are_skipped_and_listed(run: Run, session: Path, photos: Path) -> None:
    lost = next(photos.rglob("red*.png"))
    lost.unlink()
    result = run("export", session, "--to", "folders", "-o", "sorted", "--json")
    row = json_of(result)
    assert row["n_written"] == 23
    assert row["skipped"][0]["name"] == lost.relative_to(photos).as_posix()
    assert lost.name in result.stderr


def test_an_unknown_way_to_show_images_raises_before_a_long_step(run: Run, session: Path) -> None:
    for option in ("--images", "--pictures"):  # the second is the name in release 0.1
        error = run("ask", session, option, "none").stderr
        assert "'none' is not a known way to show images" in error
        assert "embedding" not in error


def test_answers_are_printed_as_json_lines(run: Run, session: Path) -> None:
    lines = [json.loads(line) for line in done(run("answers", session)).stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["label", "pair"]
    assert (lines[0]["answer"], lines[0]["who"]) == ("warm", "Ann")
    assert all(len(content) == 64 for line in lines for content in line["images"])
    row = json_of(run("answers", session, "--by", "colour", "--json"))
    assert row == {"n_answers": 2, "answers": lines}


def test_answers_are_printed_as_a_table(run: Run, session: Path) -> None:
    result = done(run("answers", session, "--to", "csv"))
    first, second = csv.DictReader(io.StringIO(result.stdout))
    assert (first["kind"], first["answer"]) == ("label", "warm")
    assert len(second["images"].split()) == 2


def test_answers_of_one_session_can_be_imported_into_another(
    run: Run, session: Path, photos: Path
) -> None:
    Path("answers.jsonl").write_text(done(run("answers", session)).stdout + "{broken\n")
    arguments = ["fit", photos, "-k", 3, "--method", "kmeans", "--session", "other.likewise"]
    done(run(*arguments, "--by", "mood"))
    import_them = ["answers", "other.likewise", "--by", "mood", "--import", "answers.jsonl"]
    strict = run(*import_them, "--strict")
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert "line 3" in strict.stderr
    assert done(run("answers", "other.likewise")).stdout == ""
    result = done(run(*import_them))
    assert "2 answers imported, 0 already known, 1 line skipped" in result.stdout
    assert "line 3: is not JSON" in result.stderr
    row = json_of(run(*import_them, "--json"))
    assert (row["n_imported"], row["n_duplicates"], len(row["problems"])) == (0, 2, 1)


def test_a_file_without_a_valid_line_is_an_error(run: Run, session: Path) -> None:
    Path("bad.jsonl").write_text("{broken\n{}\n")
    message = error_of(run, "answers", session, "--import", "bad.jsonl", "--json")
    assert "No line of bad.jsonl could be imported; correct the lines" in message
    Path("none.jsonl").write_text("")
    done(run("answers", session, "--import", "none.jsonl"))


def test_a_criterion_given_with_a_model_is_ignored_with_a_note(
    run: Run, session: Path, new: Path
) -> None:
    result = done(run("predict", "model", new, "--by", "mood"))
    assert "Note: --by 'mood' is ignored: model is a model" in result.stderr
    assert "Note:" not in done(run("predict", "model", new)).stderr


def test_embeddings_are_written_with_the_names_of_their_rows(run: Run, photos: Path) -> None:
    (photos / "broken.png").write_bytes(b"")
    row = json_of(run("embed", photos, "-o", "vectors.npy", "--json"))
    vectors = np.load("vectors.npy")
    description = json.loads(Path("vectors.json").read_text())
    assert vectors.shape == (24, row["width"]) == (len(description["names"]), row["width"])
    assert [one["name"] for one in row["skipped"]] == ["broken.png"]
    assert description["names"] == sorted(description["names"])
    assert max(stop for _, stop in description["blocks"].values()) == row["width"]
    assert np.isfinite(vectors).all()


def test_embeddings_are_cached(run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(run("embed", photos, "-o", "vectors.npy"))

    def no_more(*args: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("likewise.embedding.bundled.encoder.BundledEncoder.encode", no_more)
    done(run("embed", photos, "-o", "again.npy"))
    np.testing.assert_array_equal(np.load("vectors.npy"), np.load("again.npy"))


def test_a_cache_that_cannot_be_written_is_only_a_note(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LIKEWISE_CACHE", str(tmp_path / "file" / "cache"))
    result = done(run("embed", photos, "-o", "vectors.npy"))
    assert "cannot be written, so embeddings are not cached; set LIKEWISE_CACHE" in result.stderr


def test_a_report_is_one_file_and_replaces_nothing(run: Run, session: Path, tmp_path: Path) -> None:
    made = json_of(run("report", session, "-o", "r.html", "--json"))
    text = (tmp_path / "r.html").read_text()
    assert made == {"out": "r.html", "criterion": "colour", "bytes": len(text)}
    assert "Learning curve" in text
    assert "24 images, 2 answers" in text
    assert "already exists" in error_of(run, "report", session, "-o", "r.html")
    done(run("report", session, "--no-curve"))
    assert "<svg" not in (tmp_path / "report-colour.html").read_text()
