import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import InvalidParameterError, SessionError, UnknownNameError
from likewise.session import Session, export_csv, export_folders, save_results
from tests.session.pictures import Pictures

NAMES = ["a/1.jpg", "b/1.jpg", "b/1.JPG", "2.jpg", "3.jpg"]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for name in NAMES:
        file = tmp_path / "photos" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"picture {name}")
    return tmp_path / "photos"


@pytest.fixture
def sorted_session(tmp_path: Path, photos: Path) -> Iterator[Session]:
    """Return a session with the first four pictures in group 0, called winter; 3.jpg in 1."""
    path = tmp_path / "photos.likewise"
    with Session.create(path, Pictures(NAMES, "abcde"), root=photos) as session:
        session.add_criterion("season", 2)
        key = session.make_group("season", name="winter / ski?").key
        other = session.make_group("season", name="..").key
        probabilities = np.array([[0.8, 0.2]] * 4 + [[0.3, 0.7]])
        save_results(session, "season", probabilities, keys=(key, other))
        yield session


def below(folder: Path) -> list[str]:
    files = (p for p in folder.rglob("*") if not p.is_dir())
    return sorted(str(p.relative_to(folder)) for p in files)


def test_the_table_has_a_line_for_each_picture(sorted_session: Session, tmp_path: Path) -> None:
    sorted_session.tell(Answer(Question.pair(0, 3), "different"))
    done = export_csv(sorted_session, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["path", "cluster", "name", "confidence", "answered"]
    assert (done.n_written, done.left_out) == (5, ())
    assert [row[0] for row in rows] == NAMES
    assert rows[1] == ["b/1.jpg", "0", "winter / ski?", "0.8000", "false"]
    assert rows[0][4] == rows[3][4] == "false"  # "different" places no image
    assert {rows[0][1], rows[3][1]} == {"0", "1"}  # the answer holds against the model
    assert rows[4] == ["3.jpg", "1", "..", "0.7000", "false"]


def test_names_that_need_quotes_or_are_not_text_come_back(tmp_path: Path) -> None:
    names = ['"a", b\n.jpg', "\udcff.jpg"]
    with Session.create(tmp_path / "s", Pictures(names, "xy")) as session:
        session.add_criterion("season")
        save_results(session, "season", np.ones((2, 1)))
        export_csv(session, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", errors="surrogateescape") as file:
        assert [row[0] for row in csv.reader(file)][1:] == names
    assert b"\n\xff.jpg," in (tmp_path / "out.csv").read_bytes()


def test_missing_pictures_are_omitted_and_listed(sorted_session: Session, tmp_path: Path) -> None:
    sorted_session.sync(Pictures(NAMES[1:], "bcde"))
    done = export_csv(sorted_session, tmp_path / "out.csv")
    assert (done.n_written, done.left_out) == (4, (("a/1.jpg", "is missing"),))


def test_unanswered_images_of_low_confidence_are_marked_unsure(
    sorted_session: Session, tmp_path: Path
) -> None:
    sorted_session.tell(Answer(Question.pair(0, 1), "same"))
    sorted_session.tell(Answer(Question.label(3), "bad_image"))
    probabilities = np.array([[0.6, 0.4], [0.6, 0.4], [0.75, 0.25], [0.6, 0.4], [0.3, 0.7]])
    save_results(sorted_session, "season", probabilities, keys=("g1", "g2"))
    export_csv(sorted_session, tmp_path / "out.csv", unsure_below=0.75)
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        found = [row[1:3] for row in csv.reader(file)][1:]
    winter = ["0", "winter / ski?"]
    assert found == [winter, winter, winter, ["-1", "bad image"], ["-1", "unsure"]]
    export_folders(sorted_session, tmp_path / "out", unsure_below=0.75)
    assert below(tmp_path / "out")[0] == "bad image/2.jpg"
    assert below(tmp_path / "out")[1] == "unsure/3.jpg"


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_unsure_below_must_be_a_probability(
    sorted_session: Session, tmp_path: Path, wrong: float
) -> None:
    for export in (export_csv, export_folders):
        with pytest.raises(InvalidParameterError, match=r"must be a number from 0 to 1"):
            export(sorted_session, tmp_path / "out", unsure_below=wrong)
    assert not (tmp_path / "out").exists()


def test_an_existing_table_is_not_overwritten(sorted_session: Session, tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(SessionError, match="already exists and was not overwritten"):
        export_csv(sorted_session, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "mine"


@pytest.mark.parametrize("how", ["copy", "symlink", "hardlink"])
def test_each_group_has_a_folder_and_no_picture_hides_another(
    sorted_session: Session, tmp_path: Path, photos: Path, how: str
) -> None:
    before, told = below(photos), list[tuple[int, int]]()
    done = export_folders(
        sorted_session, tmp_path / "out", how=how, progress=lambda *far: told.append(far)
    )
    assert (done.n_written, done.left_out) == (5, ())
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    assert below(tmp_path / "out") == [
        "_/3.jpg",
        "winter _ ski_/1 (2).jpg",
        "winter _ ski_/1 (3).JPG",
        "winter _ ski_/1.jpg",
        "winter _ ski_/2.jpg",
    ]
    assert (tmp_path / "out" / "winter _ ski_" / "1 (2).jpg").read_text() == "picture b/1.jpg"
    assert below(photos) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "photos", "photos.likewise"]


def test_links_are_links_and_copies_are_not(
    sorted_session: Session, tmp_path: Path, photos: Path
) -> None:
    for how in ("copy", "symlink", "hardlink"):
        export_folders(sorted_session, tmp_path / how, how=how)
    original = photos / "3.jpg"
    assert (tmp_path / "symlink" / "_" / "3.jpg").readlink() == original.resolve()
    assert (tmp_path / "hardlink" / "_" / "3.jpg").samefile(original)
    copy = tmp_path / "copy" / "_" / "3.jpg"
    assert not copy.is_symlink()
    assert not copy.samefile(original)


def test_a_folder_in_use_is_not_touched(sorted_session: Session, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(SessionError, match="out is not an empty folder and was not changed"):
        export_folders(sorted_session, tmp_path / "out")
    assert below(tmp_path / "out") == ["mine.txt"]


@pytest.mark.parametrize("place", ["inside", "a/inside", "link/inside", ""])
def test_a_target_inside_the_image_folder_is_refused(
    sorted_session: Session, photos: Path, place: str
) -> None:
    """What is put there would be found as new pictures by whoever looks next."""
    (photos.parent / "link").symlink_to(photos)
    target = photos.parent / place if place.startswith("link") else photos / place
    message = rf"is inside {photos}, .* found as new images; .* such as '{photos} sorted'"
    with pytest.raises(SessionError, match=message):
        export_folders(sorted_session, target)
    assert below(photos) == sorted(NAMES)


def test_a_target_next_to_the_images_may_have_the_same_prefix(
    sorted_session: Session, photos: Path
) -> None:
    target = photos.with_name(f"{photos.name} sorted")
    assert export_folders(sorted_session, target).n_written == 5


def test_an_empty_folder_is_filled(sorted_session: Session, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert export_folders(sorted_session, tmp_path / "out").n_written == 5


def test_a_picture_deleted_during_the_export_is_omitted_and_listed(
    sorted_session: Session, tmp_path: Path, photos: Path
) -> None:
    (photos / "2.jpg").unlink()
    done = export_folders(sorted_session, tmp_path / "out")
    assert done.n_written == 4
    assert done.left_out == (("2.jpg", "no longer exists, or may not be read"),)


def test_a_failed_export_leaves_no_files(sorted_session: Session, tmp_path: Path) -> None:
    other_disk = Path("/dev/shm")
    if not other_disk.is_dir() or other_disk.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other disk here")
    target = other_disk / f"likewise-{os.getpid()}"
    with pytest.raises(SessionError, match=r"must be on one file system .* choose copy or symlink"):
        export_folders(sorted_session, target, how="hardlink")
    assert not list(other_disk.glob(f"*likewise-{os.getpid()}*"))


def test_groups_of_one_name_get_two_folders(sorted_session: Session, tmp_path: Path) -> None:
    sorted_session.change_group("season", "g2", name="winter / ski?")
    export_folders(sorted_session, tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["winter _ ski_", "winter _ ski_ (2)"]


def test_only_known_ways_to_export(sorted_session: Session, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="'move' is not a known way to export folders"):
        export_folders(sorted_session, tmp_path / "out", how="move")


def test_arrays_have_no_files_to_put_into_folders(session: Session, tmp_path: Path) -> None:
    save_results(session, "season", np.ones((20, 1)))
    with pytest.raises(SessionError, match="are not files, so they cannot be exported"):
        export_folders(session, tmp_path / "out")


def test_folders_that_cannot_be_written_are_named(sorted_session: Session) -> None:
    with pytest.raises(SessionError, match="/proc/out"):
        export_folders(sorted_session, "/proc/out")
    with pytest.raises(SessionError, match="gone is not a folder"):
        export_folders(sorted_session, "/gone/out")
    with pytest.raises(SessionError, match=r"/proc/out.csv"):
        export_csv(sorted_session, "/proc/out.csv")
