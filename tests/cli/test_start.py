"""`likewise start` and `likewise ask` as a person runs them."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from likewise.server.page_address import load_address
from likewise.server.serve import bind
from likewise.session import Session
from tests.cli.conftest import Run, done

COMMAND = [sys.executable, "-c", "from likewise.cli.main import run; run()"]


def start(*words: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "start", *map(str, words), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_the_page_is_served_answers_are_kept_and_ctrl_c_ends_it(photos: Path) -> None:
    with start(photos, "--by", "colour", "-k", 3) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S{20,}", address)
            with httpx.Client(timeout=30) as client:
                assert "likewise" in client.get(address).text
                base = address.split("/?")[0]
                (question,) = client.get(f"{base}/api/questions").json()["questions"]
                body = {"question": question, "answer": "different"}
                assert client.post(f"{base}/api/answers", json=body).status_code == 201
                assert _torchless(process.pid)
            second = subprocess.run(
                [*COMMAND, "start", str(photos), "--by", "colour", "--no-browser"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert second.returncode == 1
            assert second.stderr.splitlines()[-1].startswith("Error: ")
            assert "another process" in second.stderr.lower()
            assert address in second.stderr  # where to go instead
        finally:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    with Session.open(photos.with_name("photos.likewise")) as session:
        assert [entry.answer for entry in session.answers("colour")] == ["different"]
        assert session.criterion("colour").n_clusters == 3
        door = load_address(session.path)  # an open page finds the next start there
        assert door is not None
        assert door.url == address


def _torchless(pid: int) -> bool:
    return "libtorch" not in Path(f"/proc/{pid}/maps").read_text()


def test_a_port_in_use_is_said_before_the_long_work(run: Run, photos: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        result = run("start", photos, "--by", "colour", "--no-browser", "--port", port)
    assert result.exit_code == 1
    assert f"Error: Cannot listen on 127.0.0.1:{port}" in result.stderr
    assert not photos.with_name("photos.likewise").exists()


def test_a_folder_that_is_not_there_is_said_so(run: Run, tmp_path: Path) -> None:
    result = run("start", tmp_path / "nowhere", "--by", "colour", "--no-browser")
    assert result.exit_code == 1
    assert f"The folder '{tmp_path / 'nowhere'}' does not exist; check its name." in result.stderr


def test_beyond_this_machine_it_is_said_what_is_exposed(run: Run, tmp_path: Path) -> None:
    words = ("start", tmp_path / "nowhere", "--by", "colour", "--no-browser", "--host")
    said = run(*words, "0.0.0.0").stderr
    assert "lets everyone who can reach this machine and has the address with its token see" in said
    assert "answer and export; the connection is not encrypted" in said
    assert "lets everyone" not in run(*words, "127.0.0.1").stderr


def test_it_must_be_said_by_what_to_sort(run: Run, photos: Path) -> None:
    result = run("start", photos, "--no-browser")
    assert result.exit_code == 1
    assert 'add --by "season"' in result.stderr
    assert "reading pictures" not in result.stderr  # said before any work,
    assert not photos.with_name("photos.likewise").exists()  # and nothing is left behind
    assert 'add --by "season"' in run("start", photos, "--by", "  ", "--no-browser").stderr


@pytest.mark.parametrize(("k", "said"), [(1, "-k 1 leaves nothing to sort"), (25, "24 different")])
def test_a_number_of_groups_that_cannot_be_is_refused(
    run: Run, photos: Path, k: int, said: str
) -> None:
    result = run("start", photos, "--by", "colour", "-k", k, "--no-browser")
    assert result.exit_code == 1
    assert said in result.stderr
    assert "leave -k out" in result.stderr


def test_asking_what_is_no_session_is_refused(run: Run, photos: Path) -> None:
    result = run("ask", photos)
    assert result.exit_code == 1
    assert "is not a session" in result.stderr


@pytest.mark.slow
def test_the_terminal_asks_keeps_and_takes_back(run: Run, photos: Path) -> None:
    from likewise.images.files import read_folder

    path = photos.with_name("photos.likewise")
    with Session.create(path, read_folder(photos)) as session:
        session.add_criterion("colour", 3)
    begin = time.monotonic()
    ended = subprocess.run(
        [*COMMAND, "ask", str(path), "--who", "ada"],
        input=" \n \nu\nu\nu\nd\nq\n",
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    assert "Same colour?" in ended.stdout
    assert "There is nothing to take back." in ended.stdout
    assert ended.stdout.count("Taken back: can't tell.") == 2
    assert "1 answer in all; they are kept." in ended.stdout
    with Session.open(path) as session:
        (entry,) = session.answers("colour")
        assert (entry.answer, entry.who) == ("different", "ada")
    assert time.monotonic() - begin < 250


def test_help_says_that_nothing_leaves_the_machine(run: Run) -> None:
    text = " ".join(done(run("start", "--help")).stdout.split())
    assert "Nothing leaves this machine" in text
