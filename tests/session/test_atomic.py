"""Disk and database errors of a session, and the messages they cause."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import ImageError, SessionBusyError, SessionError
from likewise.session import Session
from likewise.session.atomic import disk_errors
from tests.session.pictures import pictures

PAIR = Answer(Question.pair(0, 1), "same")


class TestOpening:
    def test_a_missing_folder_is_reported(self, tmp_path: Path) -> None:
        with pytest.raises(SessionError, match=r"gone.likewise does not exist; check the path"):
            Session.open(tmp_path / "gone.likewise")

    def test_a_folder_that_is_not_a_session(self, tmp_path: Path) -> None:
        with pytest.raises(SessionError, match=r"not a session \(it contains no session.sqlite3"):
            Session.open(tmp_path)

    def test_a_file_in_the_place_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("hello")
        with pytest.raises(SessionError, match="is not a session"):
            Session.open(tmp_path / "file")

    @pytest.mark.parametrize("write", [True, False])
    def test_a_file_that_is_not_a_database(self, path: Path, write: bool) -> None:
        (path / "session.sqlite3").write_text("dear diary, " * 1000)
        with pytest.raises(SessionError, match=r"is not a database: the file was replaced"):
            Session.open(path, write=write)
        assert (path / "session.sqlite3").read_text().startswith("dear diary")

    @pytest.mark.parametrize("write", [True, False])
    def test_an_empty_file(self, path: Path, write: bool) -> None:
        (path / "session.sqlite3").write_bytes(b"")
        with pytest.raises(SessionError, match="not a likewise session"):
            Session.open(path, write=write)
        assert (path / "session.sqlite3").read_bytes() == b""

    @pytest.mark.parametrize("write", [True, False])
    def test_a_damaged_database(self, tmp_path: Path, write: bool) -> None:
        path = tmp_path / "s"
        Session.create(path, pictures(500)).close()
        file = path / "session.sqlite3"
        content = file.read_bytes()
        damaged = content[:4096] + b"\x55" * (len(content) - 4096)
        file.write_bytes(damaged)
        with pytest.raises(SessionError, match=r"is damaged. It was not changed"):
            Session.open(path, write=write)
        assert file.read_bytes() == damaged

    def test_one_that_another_program_has_locked(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("likewise.session.database._BUSY_TIMEOUT", 0.01)
        with (
            Session.open(path) as session,
            closing(sqlite3.connect(path / "session.sqlite3")) as db,
        ):
            db.execute("BEGIN IMMEDIATE")
            with pytest.raises(SessionBusyError, match="locked by another program"):
                session.tell(PAIR)
            db.rollback()
            assert session.tell(PAIR).accepted


class TestCreating:
    def test_where_something_is_already(self, path: Path) -> None:
        with pytest.raises(SessionError, match="already exists; open it"):
            Session.create(path, pictures(3))
        with Session.open(path) as session:
            assert len(session.images) == 20

    def test_the_parent_folder_of_a_session_must_exist(self, tmp_path: Path) -> None:
        with pytest.raises(SessionError, match="gone is not a folder; create it first"):
            Session.create(tmp_path / "gone" / "s", pictures(3))

    def test_where_nothing_can_be_written(self) -> None:
        with pytest.raises(SessionError, match=r"/proc/s cannot be .* \(.+\)"):
            Session.create("/proc/s", pictures(3))

    def test_a_failure_leaves_no_files(self, tmp_path: Path) -> None:
        class Broken:
            def __len__(self) -> int:
                return 3

            def pixels(self, index: int) -> None: ...
            def name(self, index: int) -> str:
                return str(index)

            def identity(self, index: int) -> str:
                raise ImageError("2.jpg vanished.")

        with pytest.raises(ImageError, match=r"2.jpg vanished"):
            Session.create(tmp_path / "s", Broken())  # type: ignore[arg-type]  # breaks on purpose
        assert list(tmp_path.iterdir()) == []


class TestWriting:
    def test_writing_to_a_full_disk_loses_nothing_and_can_be_repeated(
        self, session: Session
    ) -> None:
        session.tell(PAIR)
        ((pages,),) = session._database.rows("PRAGMA page_count")
        session._database.rows(f"PRAGMA max_page_count = {pages}")
        long = Answer(Question.label(5), "x" * 50_000)
        with pytest.raises(SessionError, match=r"the disk is full. Answers acknowledged before"):
            session.tell(long)
        assert session.graph("season").n_answers == 1  # memory follows the disk
        session._database.rows("PRAGMA max_page_count = 100000")
        assert session.tell(long).accepted
        assert len(session.answers("season")) == 2

    def test_to_a_session_that_was_deleted_is_refused(self, session: Session) -> None:
        shutil.rmtree(session.path)
        with pytest.raises(SessionError, match="moved, replaced or deleted while it was open"):
            session.tell(PAIR)

    def test_to_a_session_that_was_replaced_is_refused(self, session: Session) -> None:
        file = session.path / "session.sqlite3"
        shutil.copy(file, session.path / "copy")
        os.replace(session.path / "copy", file)
        with pytest.raises(SessionError, match="moved, replaced or deleted while it was open"):
            session.tell(PAIR)

    def test_an_exceeded_quota_is_reported_and_no_acknowledged_answer_is_lost(
        self, path: Path
    ) -> None:
        code = """
            import resource, sys
            from likewise.constraints.question import Answer, Question
            from likewise.errors import SessionError
            from likewise.session import Session
            with Session.open(sys.argv[1]) as session:
                resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
                for i in range(10_000):
                    try:
                        session.tell(Answer(Question.label(i % 20), f"{i} " + "x" * 2000))
                    except SessionError as error:
                        print(i, error)
                        break
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(path)],
            check=True,
            capture_output=True,
            text=True,
        )
        n_told, message = done.stdout.split(" ", 1)
        assert "Answers acknowledged before" in message
        with Session.open(path) as session:
            assert len(session.answers("season")) == int(n_told) > 0


READ_ONLY = """
    import os, subprocess, sys
    from likewise.constraints.question import Answer, Question
    from likewise.errors import SessionError
    from likewise.session import Session
    folder, path = sys.argv[1:]
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
    try:
        Session.open(path)
    except SessionError as error:
        print(error)
    with Session.open(path, write=False) as session:
        print(session.graph("season").n_answers)
"""


def run_on_a_read_only_disk(folder: Path, path: Path) -> list[str]:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only root can mount a folder read-only")
    done = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", textwrap.dedent(READ_ONLY), folder, path],
        check=False,
        capture_output=True,
        text=True,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(f"this machine does not let us mount: {done.stderr.strip()[-100:]}")
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_session_on_a_read_only_disk_can_be_read_and_the_error_of_a_write_gives_the_reason(
    tmp_path: Path, path: Path
) -> None:
    with Session.open(path) as session:
        session.tell(PAIR)
    message, n_answers = run_on_a_read_only_disk(tmp_path, path)
    assert "cannot be written: its disk or folder is read-only" in message
    assert n_answers == "1"


def test_folders_that_one_may_not_write_are_named(path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    path.chmod(0o555)
    try:
        with pytest.raises(SessionError, match="read-only for you"):
            Session.open(path)
    finally:
        path.chmod(0o755)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "your disk quota is used up.* are saved; delete some"),
        (errno.EFBIG, "exceed the maximum file size .*`ulimit -f`.* are saved; raise the limit"),
        (errno.EROFS, "is read-only for you"),
        (errno.EACCES, "is read-only for you"),
        (errno.EIO, "cannot be used"),
    ],
)
def test_system_errors_become_session_errors(number: int, words: str) -> None:
    with (
        pytest.raises(SessionError, match=f"/some/where .*{words}.*{os.strerror(number)}"),
        disk_errors(Path("/some/where")),
    ):
        raise OSError(number, os.strerror(number))


def test_programming_errors_are_not_converted(session: Session) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        session._database.rows("SELECT * FROM nowhere")
    with pytest.raises(sqlite3.IntegrityError), session._database.transaction() as db:
        db.execute("INSERT INTO log (criterion, kind, who, at) VALUES (1, 'pair', '', '')")


def test_everything_but_the_database_can_be_deleted(path: Path) -> None:
    with Session.open(path) as session:
        session.tell(PAIR)
    for entry in path.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
    with Session.open(path) as session:
        assert session.graph("season").n_answers == 1
        session.tell(Answer(Question.pair(1, 2), "same"))
