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

from likewise.desk.desk import Desk
from likewise.desk.messages import pack, unpack
from tests.desk.folder import colour, make_session, paint_folder, right_answer

pytestmark = pytest.mark.slow


def wait_for(is_so: Callable[[], bool], seconds: float = 150) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.fixture
def busy_desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(make_session(paint_folder(tmp_path / "photos", 24))) as desk:
        yield desk


def test_it_learns_comes_back_when_killed_and_places_new_pictures(
    busy_desk: Desk, tmp_path: Path
) -> None:
    desk, sorting = busy_desk, busy_desk.sorting("colour")
    assert sorting.questions(1)  # at once, before anything is embedded
    wait_for(lambda: sorting.results is not None)
    for _ in range(8):
        (question,) = sorting.questions(1)
        desk.answer("colour", question, right_answer(desk.session, question))
    wait_for(lambda: sorting.results is not None and sorting.results.n_answers >= 5)
    gallery = sorting.gallery()
    for key in ("g1", "g2"):
        assert len({colour(desk.session, i) for i in gallery.members[key].tolist()}) == 1

    before, version = desk.trainer_pid, sorting.version
    assert before is not None
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: desk.trainer_pid not in (None, before))
    assert sorting.questions(1)  # nobody has to wait for it
    wait_for(lambda: sorting.version > version)
    assert desk.trouble is None
    again = sorting.gallery()
    assert set(again.members["g1"].tolist()) == set(gallery.members["g1"].tolist())

    assert desk.session.root is not None
    shutil.copy(paint_folder(tmp_path / "extra", 25) / "24red.png", desk.session.root)
    assert desk.rescan() is not None
    wait_for(lambda: sorting.gallery().group_of[24] == sorting.gallery().group_of[0])
    assert desk.trouble is None


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    session = make_session(paint_folder(tmp_path / "photos", 4))
    session.close()
    code = (
        "import sys, time\n"
        "from likewise.desk.desk import Desk\n"
        "from likewise.session import Session\n"
        "with Desk(Session.open(sys.argv[1])) as desk:\n"
        "    desk.is_ready.wait()\n"  # from now on it has nothing to say that nobody would hear
        "    print(desk.trainer_pid, flush=True)\n"
        "    time.sleep(100)\n"
    )
    assert _ends_with_parent([sys.executable, "-c", code, str(session.path)])


def test_it_ends_when_nobody_can_give_orders_any_more(tmp_path: Path) -> None:
    """Where the system cannot be asked to end it with its parent, this does."""
    session = make_session(paint_folder(tmp_path / "photos", 4))
    session.close()
    command = [sys.executable, "-m", "likewise.desk.child", str(session.path), "bundled"]
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
        "from likewise.desk.child import end_with_parent\n"
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
    assert unpack(pack({"event": "ready"})[:-5]) is None
    assert unpack(b"[1]\n") is None
    assert unpack(pack({"event": "ready"})) == {"event": "ready"}
