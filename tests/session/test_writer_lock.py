import re
import select
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from likewise.constraints.question import Answer, Question
from likewise.errors import SessionBusyError
from likewise.session import Session
from likewise.session.database import WriterLock
from tests.session.pictures import restore_last

HOLD = """
    import sys
    from likewise.session import Session
    session = Session.open(sys.argv[1])
    print("open", flush=True)
    sys.stdin.read()
"""


def start(code: str, path: Path) -> "subprocess.Popen[str]":
    """Run `code` in a process of its own; return when it has said that it is there."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def can_be_written(path: Path) -> bool:
    """Open a session that nobody should hold, and have an answer taken."""
    with Session.open(path) as heir:
        return heir.tell(Answer(Question.pair(0, 1), "same")).accepted


def test_a_second_process_is_refused_with_the_pid_of_the_first(path: Path) -> None:
    with start(HOLD, path) as writer:
        try:
            message = rf"{re.escape(str(path))} is in use .* another process \(pid {writer.pid}\)"
            with pytest.raises(SessionBusyError, match=message) as refused:
                Session.open(path)
            assert str(refused.value).endswith("close it there first (Ctrl+C).")
        finally:
            writer.kill()


def test_readers_see_what_the_writer_commits(path: Path) -> None:
    with Session.open(path) as writer, Session.open(path, write=False) as reader:
        assert reader.graph("season").n_answers == 0
        writer.tell(Answer(Question.pair(0, 1), "same"))
        assert reader.graph("season").n_answers == 1
        writer.undo("season")
        assert reader.graph("season").n_answers == 0
        restore_last(writer)
        assert reader.graph("season").n_answers == 1


def test_the_same_process_is_refused_too(session: Session) -> None:
    with pytest.raises(SessionBusyError, match="by this process"):
        Session.open(session.path)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_dies_with_its_holder(path: Path, end: signal.Signals) -> None:
    with start(HOLD, path) as writer:
        writer.send_signal(end)
    assert writer.returncode == -end
    assert can_be_written(path)


def test_closing_releases_the_lock_and_leaves_no_file(path: Path) -> None:
    Session.open(path).close()
    Session.open(path).close()
    assert sorted(p.name for p in path.iterdir()) == [
        "answers.jsonl",
        "embeddings",
        "models",
        "session.sqlite3",
        "thumbnails",
    ]


def test_the_lock_is_released_if_opening_fails(path: Path) -> None:
    (path / "session.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(OSError, match="is not a database"):
        Session.open(path)
    WriterLock(path).release()


def test_tidying_the_folder_up_does_not_let_a_second_writer_in(session: Session) -> None:
    for file in session.path.glob("*.pid"):
        file.unlink()
    with pytest.raises(SessionBusyError, match="by another process"):
        Session.open(session.path)


FORK = """
    import os, sys, time
    from likewise.session import Session
    session = Session.open(sys.argv[1])
    if os.fork() == 0:
        os.write(1, b"open\\n")
        sys.stdin.read()
        os._exit(0)
    time.sleep(60)
"""


def test_a_forked_child_does_not_hold_the_lock_after_its_parent(path: Path) -> None:
    with start(FORK, path) as parent:
        parent.kill()
        parent.wait()
        assert can_be_written(path)
        # The child is alive: it reads a pipe that we hold open, and has not closed its stdout.
        assert parent.stdout is not None
        assert select.select([parent.stdout], [], [], 0)[0] == []
