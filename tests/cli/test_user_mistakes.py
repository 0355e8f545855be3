"""Common mistakes: the wrong path, a missing option, a session whose page is open."""

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.images.files import read_folder
from likewise.server.serve import PageAddress, bind, save_address
from likewise.session import Session
from tests.cli.conftest import Run, error_of


@pytest.fixture
def session(photos: Path) -> Path:
    """A session next to the photos with two criteria, and an answer for one of them."""
    path = photos.with_name("photos.likewise")
    with Session.create(path, read_folder(photos)) as opened:
        opened.add_criterion("mood", 2)
        opened.add_criterion("colour", 3)
        opened.tell(Answer(Question.pair(0, 1), "different", criterion="colour"))
    return path


@pytest.fixture
def page(session: Path) -> Iterator[PageAddress]:
    """The address of the page of that session, which is open."""
    with bind("127.0.0.1", 0) as bound, Session.open(session):
        bound.listen()
        address = PageAddress("127.0.0.1", bound.getsockname()[1], "token")
        save_address(session, address)
        yield address


def _too_late(*args: object, **options: object) -> None:
    raise AssertionError("a long step has started")


@pytest.mark.parametrize(
    ("arguments", "options", "command"),
    [
        (("start",), ("--by", "x"), "start"),
        (("fit",), ("-k", 2), "fit"),
        (("embed",), ("-o", "x.npy"), "embed"),
        (("predict", "photos.likewise"), ("--by", "colour"), "predict photos.likewise"),
    ],
)
def test_a_session_given_as_image_folder(
    run: Run,
    photos: Path,
    session: Path,
    arguments: tuple[str, ...],
    options: tuple[object, ...],
    command: str,
) -> None:
    message = error_of(run, *arguments, session, *options)
    assert f"{session} is a session, not a folder of images; its images are" in message
    assert message.endswith(f"in {photos}, so use `likewise {command} {photos}`.\n")
    assert not Path("photos.likewise.likewise").exists()


def test_the_corrected_command_contains_the_path_of_the_session(
    run: Run, photos: Path, session: Path
) -> None:
    session.rename("mine.likewise")
    message = error_of(run, "start", "mine.likewise", "--by", "x")
    assert f"`likewise start {photos} --session mine.likewise`." in message
    assert "--session" not in error_of(run, "embed", "mine.likewise", "-o", "x.npy")
    with sqlite3.connect("mine.likewise/session.sqlite3") as db:
        db.execute("PRAGMA user_version = 999")  # of a newer release
    db.close()
    message = error_of(run, "start", "mine.likewise", "--by", "x")
    assert "is a session, not a folder of images; give the folder that" in message


@pytest.mark.parametrize("arguments", [("export",), ("predict", "photos"), ("ask",)])
def test_one_of_several_criteria_must_be_given(
    run: Run, session: Path, arguments: tuple[str, ...]
) -> None:
    command, *others = arguments
    message = error_of(run, command, session, *others)
    assert "This session has 2 criteria; choose one with --by: colour, mood." in message


def test_a_model_that_does_not_exist(run: Run, photos: Path) -> None:
    message = error_of(run, "predict", "nope.likewise", photos)
    assert "nope.likewise does not exist; check the path, or train a model" in message


def test_invalid_input_of_predict_raises_before_a_long_step(
    run: Run, session: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise.workspace.training_job.SessionVectors.load", _too_late)
    message = error_of(run, "predict", session, "nowhere", "--by", "colour")
    assert "The folder 'nowhere' does not exist" in message
    monkeypatch.setattr("likewise.images.files.read_folder", _too_late)
    assert "has no answers for the criterion 'mood'" in error_of(
        run, "predict", session, photos, "--by", "mood"
    )
    assert "is not a likewise model: it needs model.json and tensors.safetensors" in error_of(
        run, "predict", photos, photos
    )


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (("ask", "photos.likewise", "--by", "colour"), "photos.likewise"),
        (("answers", "photos.likewise", "--import", "a.jsonl"), "photos.likewise"),
        (("fit", "photos", "-k", 3, "--by", "colour"), "photos"),
        (("start", "photos", "--by", "colour"), "photos"),
    ],
)
def test_the_error_contains_the_address_of_an_open_page(
    run: Run,
    page: PageAddress,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    given: str,
) -> None:
    monkeypatch.setattr("likewise.images.files.read_folder", _too_late)
    message = error_of(run, *arguments)
    assert f"{given} is already open in another process, and its page is" in message
    assert f"is {page.url} ; continue there" in message


def test_the_error_does_not_contain_the_address_of_a_closed_page(run: Run, session: Path) -> None:
    with bind("127.0.0.1", 0) as bound:
        save_address(session, PageAddress("127.0.0.1", bound.getsockname()[1], "token"))
    with Session.open(session):
        message = error_of(run, "ask", session, "--by", "colour")
    assert "is in use for writing by this process; close it there first" in message
    assert "token" not in message


@pytest.mark.parametrize("arguments", [("start", "--by", "x", "--no-browser"), ("fit", "-k", 2)])
def test_next_to_a_read_only_folder_the_path_of_the_session_can_be_given(
    run: Run, photos: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...]
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    monkeypatch.setattr("likewise.images.files.read_folder", _too_late)
    command, *options = arguments
    message = error_of(run, command, photos, *options)
    assert f"photos.likewise cannot be created: {photos.parent} is read-only for you" in message
    assert "choose another path" in message
    assert "choose another path with --session PATH." in message
