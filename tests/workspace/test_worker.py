"""The worker as a real process: it embeds, trains, is killed and restarted."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from likewise.workspace import worker
from likewise.workspace.worker import Worker
from likewise.workspace.worker_process import (
    Message,
    decode_message,
    describe_error,
    encode_message,
)
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


def test_an_error_is_described_in_one_line() -> None:
    with pytest.raises(ValueError, match="invalid literal") as caught:
        int("12\n  3" + 1000 * "x")
    text = describe_error(caught.value)
    assert text.startswith("ValueError: invalid literal for int() with base 10: '12\\n 3xxx")
    assert text.endswith(")")
    assert "(test_worker.py:" in text
    assert len(text) < 400


class TestFailingWorker:
    """A process that fails, in place of the worker process."""

    @pytest.fixture(autouse=True)
    def short_pauses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker, "_MIN_WAIT", 0.1)
        monkeypatch.setattr(worker, "_MAX_WAIT", 0.8)

    def ends(self, tmp_path: Path, code: str, n: int) -> tuple[list[Message], list[float]]:
        """Return the messages of `n` ends of a process with this code, and their times."""
        ends, times = list[Message](), list[float]()

        def receive(message: Message) -> None:
            if message["event"] == "worker_exited":
                ends.append(message)
                times.append(time.monotonic())
            elif message["event"] == "trained":
                raise ValueError("the results are damaged")

        started = Worker(tmp_path, "bundled", receive)
        started._command = [sys.executable, "-c", code]
        started.start()
        try:
            wait_for(lambda: len(ends) >= n, seconds=30)
        finally:
            started.stop()
        return ends, times

    def test_it_is_restarted_with_increasing_delays_even_if_it_was_ready(
        self, tmp_path: Path
    ) -> None:
        code = """print('{"event": "ready"}', flush=True); 1 / 0"""
        ends, times = self.ends(tmp_path, code, 5)
        assert {end["reason"] for end in ends} == {"ZeroDivisionError: division by zero"}
        assert all(end["was_ready"] for end in ends)
        pauses = [later - earlier for earlier, later in pairwise(times)]
        for pause, least in zip(pauses, [0.1, 0.2, 0.4, 0.8], strict=False):
            assert pause >= least

    def test_a_fatal_error_of_the_interpreter_is_reported_by_its_message(
        self, tmp_path: Path
    ) -> None:
        code = (
            "import sys; sys.stderr.write('Fatal Python error: could not acquire lock\\n\\n"
            "Thread 0x1 (most recent call first):\\n  <no Python frame>\\n'); sys.exit(1)"
        )
        ends, _ = self.ends(tmp_path, code, 1)
        assert ends[0]["reason"] == "Fatal Python error: could not acquire lock"

    @pytest.mark.parametrize(
        ("code", "reason"),
        [
            ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it was killed"),
            ("import os; os.abort()", "it was ended by signal 6"),
            ("import os; os._exit(3)", "it ended with status 3"),
        ],
    )
    def test_a_process_that_ends_without_a_report_has_a_reason(
        self, tmp_path: Path, code: str, reason: str
    ) -> None:
        ends, _ = self.ends(tmp_path, code, 1)
        assert ends[0]["reason"] == reason
        assert f"ended ({reason}) and is restarted in" in ends[0]["message"]

    def test_an_error_in_the_receiver_ends_the_process_and_is_reported(
        self, tmp_path: Path
    ) -> None:
        code = """import time; print('{"event": "trained"}', flush=True); time.sleep(100)"""
        ends, _ = self.ends(tmp_path, code, 2)  # it was restarted
        assert ends[0]["reason"].startswith("ValueError: the results are damaged (")

    def test_a_process_that_cannot_be_started_is_tried_again(self, tmp_path: Path) -> None:
        ends = list[Message]()
        started = Worker(tmp_path, "bundled", ends.append)
        started._command = [str(tmp_path / "missing")]
        started.start()
        wait_for(lambda: len(ends) >= 2, seconds=30)
        started.stop()
        assert ends[0]["reason"].startswith("FileNotFoundError: ")


@pytest.mark.slow
class TestFailingTraining:
    def test_any_exception_is_reported_in_one_line_and_the_process_exits(
        self, tmp_path: Path
    ) -> None:
        session = make_session(paint_folder(tmp_path / "photos", 4))
        session.close()
        code = (
            "import sys\n"
            f"from {MODULE} import main\n"
            "from likewise.workspace import training_job\n"
            "def fail(*_):\n"
            "    raise IndexError('index 7 is out of bounds')\n"
            "training_job.SessionVectors.of = fail\n"
            "main(sys.argv[1], 'bundled')\n"
        )
        command = [sys.executable, "-c", code, str(session.path)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.wait(60) == 1  # stdin is still open
            assert process.stdout is not None
            assert process.stderr is not None
            message = decode_message(process.stdout.read())
            assert message is not None
            assert message["event"] == "failed"
            assert message["reason"].startswith("IndexError: index 7 is out of bounds (")
            assert process.stderr.read() == b""


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
