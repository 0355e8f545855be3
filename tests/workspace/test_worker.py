"""The training child, for real: it embeds, learns, dies and comes back."""

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

pytestmark = pytest.mark.slow


def wait_for(is_so: Callable[[], bool], seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.fixture
def working_workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(make_session(paint_folder(tmp_path / "photos", 24))) as workspace:
        yield desk


def test_it_learns_comes_back_when_killed_and_places_new_pictures(
    working_workspace: Workspace, tmp_path: Path
) -> None:
    workspace, criterion = working_workspace, working_workspace.criterion("colour")
    assert criterion.questions(1)  # at once, before anything is embedded
    wait_for(lambda: criterion.status.results is not None)
    for _ in range(8):
        (question,) = criterion.questions(1)
        workspace.criterion("colour").answer(question, right_answer(workspace.session, question))
    wait_for(
        lambda: criterion.status.results is not None and criterion.status.results.n_answers >= 5
    )
    gallery = criterion.status.gallery()
    for key in ("g1", "g2"):
        assert len({colour(workspace.session, i) for i in gallery.members[key].tolist()}) == 1

    before, version = workspace.worker_pid, criterion.status.version
    assert before is not None
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: workspace.worker_pid not in (None, before))
    assert criterion.questions(1)  # nobody has to wait for it
    wait_for(lambda: criterion.status.version > version)
    assert workspace.problem is None
    again = criterion.status.gallery()
    assert set(again.members["g1"].tolist()) == set(gallery.members["g1"].tolist())

    assert workspace.session.root is not None
    shutil.copy(paint_folder(tmp_path / "extra", 25) / "24red.png", workspace.session.root)
    assert workspace.rescan() is not None
    wait_for(
        lambda: criterion.status.gallery().group_of[24] == criterion.status.gallery().group_of[0]
    )
    assert workspace.problem is None


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    session = make_session(paint_folder(tmp_path / "photos", 4))
    session.close()
    code = (
        "import sys, time\n"
        "from likewise.workspace.workspace import Desk\n"
        "from likewise.session import Session\n"
        "with Desk(Session.open(sys.argv[1])) as workspace:\n"
        "    workspace.is_ready.wait()\n"  # from now on it has nothing to say that nobody would hear
        "    print(workspace.worker_pid, flush=True)\n"
        "    time.sleep(100)\n"
    )
    assert _ends_with_parent([sys.executable, "-c", code, str(session.path)])


def test_it_ends_when_nobody_can_give_orders_any_more(tmp_path: Path) -> None:
    """Where the system cannot be asked to end it with its parent, this does."""
    session = make_session(paint_folder(tmp_path / "photos", 4))
    session.close()
    command = [
        sys.executable,
        "-m",
        "likewise.workspace.worker_process",
        str(session.path),
        "bundled",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        child.stdin.close()
        try:
            wait_for(lambda: child.poll() is not None, seconds=30)
            assert child.returncode == 0
        finally:
            child.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_it_ends_with_its_parent_though_its_orders_stay_open() -> None:
    child = (
        "import time\n"
        "from likewise.workspace.worker_process import end_with_parent\n"
        "end_with_parent()\n"
        "print('asked', flush=True)\n"
        "time.sleep(100)\n"
    )
    parent = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(100)\n"
    )
    assert _ends_with_parent([sys.executable, "-c", parent, child])


def _ends_with_parent(command: list[str]) -> bool:
    """Run a parent that prints the number of its child, kill it, and see whether the child ends."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    try:
        wait_for(lambda: not _lives(child), seconds=20)
        return True
    finally:
        if _lives(child):
            os.kill(child, signal.SIGKILL)


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_half_a_message_is_no_message() -> None:
    assert decode_message(encode_message({"event": "ready"})[:-5]) is None
    assert decode_message(b"[1]\n") is None
    assert decode_message(encode_message({"event": "ready"})) == {"event": "ready"}
