"""The worker as a real process: it embeds, trains, is killed and restarted."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from likewise.workspace.worker_process import decode_message, encode_message
from likewise.workspace.workspace import Workspace
from tests.workspace.images import colour, make_session, paint_folder, right_answer

MODULE = "likewise.workspace.worker_process"


def wait_for(condition: Callable[[], bool], seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "The condition was not met in time."
        time.sleep(0.05)


def test_an_incomplete_message_is_ignored() -> None:
    assert decode_message(encode_message({"event": "ready"})[:-5]) is None
    assert decode_message(b"[1]\n") is None
    assert decode_message(encode_message({"event": "ready"})) == {"event": "ready"}


@pytest.mark.slow
class TestRunningWorker:
    @pytest.fixture
    def workspace(self, tmp_path: Path) -> Iterator[Workspace]:
        with Workspace(make_session(paint_folder(tmp_path / "photos", 24))) as workspace:
            yield workspace

    def test_it_trains_restarts_after_a_kill_and_places_new_images(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        criterion = workspace.criterion("colour")
        status, session = criterion.status, workspace.session
        assert criterion.questions(1)  # before anything is embedded
        wait_for(lambda: status.results is not None)
        for _ in range(8):
            (question,) = criterion.questions(1)
            criterion.answer(question, right_answer(session, question))
        wait_for(lambda: status.results is not None and status.results.n_answers >= 5)
        gallery = status.gallery()
        for key in ("g1", "g2"):
            assert len({colour(session, i) for i in gallery.members[key].tolist()}) == 1

        pid, version = workspace.worker_pid, status.version
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: workspace.worker_pid not in (None, pid))
        assert criterion.questions(1)  # without waiting for the worker
        wait_for(lambda: status.version > version)
        assert workspace.problem is None
        assert set(status.gallery().members["g1"].tolist()) == set(gallery.members["g1"].tolist())

        assert session.root is not None
        shutil.copy(paint_folder(tmp_path / "extra", 25) / "24red.png", session.root)
        assert workspace.rescan() is not None
        wait_for(lambda: status.gallery().group_of[24] == status.gallery().group_of[0])
        assert workspace.problem is None


@pytest.mark.slow
class TestEndOfTheProcess:
    def test_it_ends_when_its_parent_is_killed(self, tmp_path: Path) -> None:
        session = make_session(paint_folder(tmp_path / "photos", 4))
        session.close()
        code = (
            "import sys, time\n"
            "from likewise.session import Session\n"
            "from likewise.workspace.workspace import Workspace\n"
            "with Workspace(Session.open(sys.argv[1])) as workspace:\n"
            "    workspace.is_ready.wait()\n"  # from then on it writes to no closed pipe
            "    print(workspace.worker_pid, flush=True)\n"
            "    time.sleep(100)\n"
        )
        assert _ends_with_parent([sys.executable, "-c", code, str(session.path)])

    def test_it_exits_when_stdin_is_closed(self, tmp_path: Path) -> None:
        """On systems that cannot kill it with its parent."""
        session = make_session(paint_folder(tmp_path / "photos", 4))
        session.close()
        command = [sys.executable, "-m", MODULE, str(session.path), "bundled"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            assert process.stdin is not None
            process.stdin.close()
            try:
                wait_for(lambda: process.poll() is not None, seconds=30)
                assert process.returncode == 0
            finally:
                process.kill()

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills it with its parent")
    def test_it_ends_with_its_parent_although_stdin_stays_open(self) -> None:
        child = (
            "import time\n"
            f"from {MODULE} import end_with_parent\n"
            "end_with_parent()\n"
            "print('done', flush=True)\n"
            "time.sleep(100)\n"
        )
        parent = (
            "import sys, time\n"
            "from subprocess import PIPE, Popen\n"
            "child = Popen([sys.executable, '-c', sys.argv[1]], stdout=PIPE)\n"
            "child.stdout.readline()\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(100)\n"
        )
        assert _ends_with_parent([sys.executable, "-c", parent, child])


def _ends_with_parent(command: list[str]) -> bool:
    """Run a parent that prints the id of its child, kill it, and return whether the child ends."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    try:
        wait_for(lambda: not _is_running(child), seconds=20)
        return True
    finally:
        if _is_running(child):
            os.kill(child, signal.SIGKILL)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
