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
        "    while desk.trainer_pid is None: time.sleep(0.01)\n"
        "    time.sleep(0.5)\n"
        "    print(desk.trainer_pid, flush=True)\n"
        "    time.sleep(100)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(session.path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    wait_for(lambda: not _lives(child), seconds=20)


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
