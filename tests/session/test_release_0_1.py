"""A session written by release 0.1 opens, migrates and contains the same data.

``data/make_release_0_1.py`` wrote the session and `expected.json` with the code
of release 0.1.
"""

import csv
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from likewise.session import (
    Session,
    answer_lines,
    assignments,
    export_csv,
    export_folders,
    import_answers,
    load_results,
)
from likewise.session.schema import MIGRATIONS

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))
CRITERIA: dict[str, Any] = EXPECTED["criteria"]
KINDS = {"take_back": "retract", "stand_by": "confirm"}  # kinds that were renamed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a copy of the session folder, next to its images."""
    shutil.copytree(DATA / "pictures", tmp_path / "pictures")
    return shutil.copytree(DATA / "release_0_1.likewise", tmp_path / "release_0_1.likewise")


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as session:
        yield session


def version(path: Path) -> int:
    with closing(sqlite3.connect(path / "session.sqlite3")) as db:
        ((number,),) = db.execute("PRAGMA user_version").fetchall()
        return int(number)


def renamed(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line of release 0.1 with the field names of this release."""
    return {("criterion" if name == "orientation" else name): line[name] for name in line}


def test_the_file_was_written_by_release_0_1_and_is_migrated(path: Path) -> None:
    assert version(path) == 2
    Session.open(path).close()
    assert version(path) == len(MIGRATIONS)


def test_the_data_covers_every_kind_of_entry_and_answer() -> None:
    kinds = {kind for one in CRITERIA.values() for _, kind, _ in one["entries"]}
    assert kinds == {
        *("pair", "choice", "label", "rename", "colour", "merge", "stand_by", "take_back")
    }
    answers = {line["answer"] for one in CRITERIA.values() for line in one["answers"]}
    assert answers >= {"same", "different", "cannot_tell", "bad_image", "new", "none", "g1"}
    assert CRITERIA["color"]["conflicts"]


def test_criteria_and_images_are_kept(session: Session) -> None:
    assert session.images.names == EXPECTED["names"]
    assert session.images.present.all()
    assert {one.name: (one.n_clusters, one.two_groups, one.folder) for one in session.criteria} == {
        name: (o["n_clusters"], o["two_groups"], o["folder"]) for name, o in CRITERIA.items()
    }


@pytest.mark.parametrize("by", CRITERIA)
class TestContent:
    def test_answers(self, session: Session, by: str) -> None:
        lines = [json.loads(line) for line in answer_lines(session, by)]
        assert lines == [renamed(line) for line in CRITERIA[by]["answers"]]

    def test_the_whole_log_with_retractions(self, session: Session, by: str) -> None:
        found = [[entry.id, entry.kind, active] for entry, active in session.entries(by)]
        assert found == [[n, KINDS.get(kind, kind), a] for n, kind, a in CRITERIA[by]["entries"]]

    def test_constraints_and_conflicts(self, session: Session, by: str) -> None:
        graph, wanted = session.graph(by), CRITERIA[by]
        found = {str(n): [str(fact) for fact in proof] for n, proof in graph.conflicts.items()}
        assert found == wanted["conflicts"]
        assert sorted(graph.bad_images) == wanted["bad_images"]
        assert graph.groups().tolist() == wanted["must_link_groups"]
        assert sorted(graph.cannot_links().tolist()) == wanted["cannot_links"]

    def test_groups_and_confirmed_answers(self, session: Session, by: str) -> None:
        groups = [[g.key, g.name, g.colour, g.merged_into] for g in session.groups(by).all()]
        assert groups == CRITERIA[by]["groups"]
        confirmed = {str(n): list(images) for n, images in session.confirmed(by).items()}
        assert confirmed == CRITERIA[by]["confirmed"]

    def test_results_and_labels(self, session: Session, by: str) -> None:
        results = load_results(session, by)
        assert results is not None
        assert list(results.keys) == CRITERIA[by]["keys"]
        assert results.labels.tolist() == CRITERIA[by]["labels"]
        rows = [
            [row.path, row.cluster, row.name, round(row.confidence, 4)]
            for row in assignments(session, by)
        ]
        assert rows == [row[:4] for row in CRITERIA[by]["assignments"]]

    def test_export(self, session: Session, by: str, tmp_path: Path) -> None:
        export_csv(session, tmp_path / "out.csv", by)
        with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
            found = [row[:3] for row in csv.reader(file)][1:]
        assert found == [[p, str(c), name] for p, c, name, _, _ in CRITERIA[by]["assignments"]]
        assert export_folders(session, tmp_path / "out", by).n_written == len(found)


def test_opening_twice_changes_nothing_more(path: Path) -> None:
    def content() -> list[str]:
        with closing(sqlite3.connect(path / "session.sqlite3")) as db:
            return list(db.iterdump())

    Session.open(path).close()
    before = content()
    Session.open(path).close()
    assert content() == before


def test_work_continues_after_the_migration(session: Session) -> None:
    n_before = session.graph("color").n_answers
    entry = session.undo("color")
    assert entry is not None
    assert session.graph("color").n_answers == n_before - 1
    retraction, is_active = session.entries("color")[-1]
    assert (retraction.kind, retraction.retracts, is_active) == ("retract", entry.id, True)
    session.retract(retraction.id)
    assert session.graph("color").n_answers == n_before


def test_an_answers_file_of_release_0_1_is_imported(path: Path, tmp_path: Path) -> None:
    lines = [line for one in CRITERIA.values() for line in one["answers"]]
    conflicts = sum(len(one["conflicts"]) for one in CRITERIA.values())
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with Session.open(path) as old:
        assert import_answers(old, file).n_duplicates == len(lines)
        with Session.create(tmp_path / "new.likewise", _Copy(old)) as new:
            for name, one in CRITERIA.items():
                new.add_criterion(name, one["n_clusters"], two_groups=one["two_groups"])
            imported = import_answers(new, file, strict=False)
            assert imported.n_imported == len(lines) - conflicts
            assert new.answers("shape")


class _Copy:
    """A collection of the same images, which has no files."""

    def __init__(self, session: Session) -> None:
        self._images = session.images

    def __len__(self) -> int:
        return len(self._images)

    def pixels(self, index: int) -> Any:
        raise NotImplementedError

    def identity(self, index: int) -> str:
        return self._images.hashes[index]

    def name(self, index: int) -> str:
        return self._images.names[index]
