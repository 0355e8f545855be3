"""`--words`: the names of the groups as a prior, for an encoder that knows text."""

import csv
from pathlib import Path

import numpy as np
import pytest

from likewise.session import Session
from tests.cli.conftest import Run, done, error_of
from tests.embedding.tiny_clip import MARKS, paint_folder, save_tiny_clip

CLIP = "./clip"


@pytest.fixture
def marks(tmp_path: Path) -> list[str]:
    """Save photos and a tiny CLIP; return the word for the small square in each photo."""
    save_tiny_clip(tmp_path / "clip")
    return [MARKS[mark] for mark in paint_folder(tmp_path / "photos")[1]]


def names_of(run: Run, *arguments: object) -> list[str]:
    done(run(*arguments, "-o", "out.csv"))
    with Path("out.csv").open(newline="") as stream:
        names = [row["name"] for row in csv.DictReader(stream)]
    Path("out.csv").unlink()
    return names


def test_fit_names_the_groups_by_the_words(run: Run, marks: list[str]) -> None:
    result = done(
        run("fit", "photos", "-k", 2, "--by", "mark", "--words", "white,black", "--encoder", CLIP)
    )
    assert "Note" not in result.stderr
    names = names_of(run, "export", "photos.likewise", "--by", "mark", "--to", "csv")
    assert np.mean(np.array(names) == marks) > 0.85
    assert names_of(run, "predict", "photos.likewise", "photos", "--encoder", CLIP) == names

    again = done(
        run("fit", "photos", "-k", 2, "--by", "mark", "--words", "old,new", "--encoder", CLIP)
    )
    assert "'mark' has groups, so --words makes no others" in again.stderr
    with Session.open(Path("photos.likewise")) as session:
        assert [group.name for group in session.groups("mark").all()] == ["white", "black"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--by", "mark"), "words need an encoder that knows text, got 'bundled'"),
        (("--encoder", CLIP), "--words needs --by: name the criterion"),
        (("--by", "mark", "--vectors", "v.npy"), "--words cannot be used with --vectors"),
    ],
)
def test_words_that_start_cannot_use(
    run: Run, marks: list[str], arguments: tuple[str, ...], message: str
) -> None:
    assert message in error_of(
        run, "start", "photos", "--words", "white,black", *arguments, "--no-browser"
    )
    assert not Path("photos.likewise").exists()
    assert len(marks) == 60


def test_words_need_a_folder(run: Run) -> None:
    assert "--words needs a folder" in error_of(run, "start", "--words", "white,black")
