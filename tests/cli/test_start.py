"""`likewise start` and `likewise ask` as subprocesses."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from likewise.server.serve import bind, load_address
from likewise.session import Session
from tests.cli.conftest import Run, done

COMMAND = [sys.executable, "-c", "from likewise.cli.main import run; run()"]


def start(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, "start", *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_the_page_is_served_answers_are_saved_and_ctrl_c_stops_it(photos: Path) -> None:
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
                assert _has_no_torch(process.pid)
            second = subprocess.run(
                [*COMMAND, "start", str(photos), "--by", "colour", "--no-browser"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert second.returncode == 1
            assert second.stderr.splitlines()[-1].startswith("Error: ")
            assert "another process" in second.stderr.lower()
            assert address in second.stderr  # where the open page is
        finally:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    with Session.open(photos.with_name("photos.likewise")) as session:
        assert [entry.answer for entry in session.answers("colour")] == ["different"]
        assert session.criterion("colour").n_clusters == 3
        saved = load_address(session.path)  # of the running page, for the message above
        assert saved is not None
        assert saved.url == address


@pytest.mark.slow
def test_a_browser_gets_a_one_time_token_and_each_start_a_new_one(
    photos: Path, tmp_path: Path
) -> None:
    opened = tmp_path / "opened.txt"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part"; mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    printed = []
    for options in ([], [], ["--keep-token"]):
        opened.unlink(missing_ok=True)
        command = [*COMMAND, "start", str(photos), "--by", "colour", *options]
        environment = {**os.environ, "BROWSER": f"{browser} %s"}
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        ) as process:
            try:
                assert process.stdout is not None
                printed.append(process.stdout.readline().strip())
                token = printed[-1].split("token=")[1]
                end = time.monotonic() + 20
                while not opened.exists() and time.monotonic() < end:
                    time.sleep(0.05)
                shown = opened.read_text().strip()
                assert token not in shown
                api = printed[-1].replace("?", "api/status?").split("?")[0]
                bearer = {"Authorization": f"Bearer {token}"}
                assert httpx.get(api, headers=bearer, timeout=30).status_code == 200
                assert httpx.get(shown, timeout=30).status_code == 200
                assert httpx.get(shown, timeout=30).status_code == 401
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(60)
    ports, tokens = zip(*(address.split("/?token=") for address in printed), strict=True)
    assert len(set(ports)) == 1
    assert tokens[0] != tokens[1] == tokens[2]


def _has_no_torch(pid: int) -> bool:
    return "libtorch" not in Path(f"/proc/{pid}/maps").read_text()


def test_a_port_in_use_raises_before_a_long_step(run: Run, photos: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        result = run("start", photos, "--by", "colour", "--no-browser", "--port", port)
    assert result.exit_code == 1
    assert f"Error: Cannot listen on 127.0.0.1:{port}" in result.stderr
    assert not photos.with_name("photos.likewise").exists()


def test_a_folder_that_does_not_exist(run: Run, tmp_path: Path) -> None:
    result = run("start", tmp_path / "nowhere", "--by", "colour", "--no-browser")
    assert result.exit_code == 1
    assert f"The folder '{tmp_path / 'nowhere'}' does not exist; check its name." in result.stderr


def test_a_host_other_than_localhost_prints_what_is_exposed(run: Run, tmp_path: Path) -> None:
    arguments = ("start", tmp_path / "nowhere", "--by", "colour", "--no-browser", "--host")
    notes = run(*arguments, "0.0.0.0").stderr
    assert (
        "lets everyone who can reach this machine and has the address with its token see" in notes
    )
    assert "answer and export; the connection is not encrypted" in notes
    assert "lets everyone" not in run(*arguments, "127.0.0.1").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("FOLDER", "--by", "  "), "--by must not be blank"),
        (("FOLDER", "-k", 3), "-k needs --by"),
        (("--by", "colour"), "--by needs a folder: likewise start FOLDER --by"),
        (("--root", "nowhere"), "--root must be a folder, got nowhere"),
    ],
)
def test_options_that_lack_another_raise(
    run: Run, photos: Path, options: tuple[object, ...], message: str
) -> None:
    given = [photos if one == "FOLDER" else one for one in options]
    result = run("start", *given, "--no-browser")
    assert result.exit_code == 1
    assert message in result.stderr
    assert "reading images" not in result.stderr  # raised before any step,
    assert not photos.with_name("photos.likewise").exists()  # and nothing is created


@pytest.mark.parametrize(
    ("k", "message"), [(1, "-k must be an integer >= 2, got 1"), (25, "images, 24, got 25")]
)
def test_an_invalid_number_of_groups_raises(run: Run, photos: Path, k: int, message: str) -> None:
    result = run("start", photos, "--by", "colour", "-k", k, "--no-browser")
    assert result.exit_code == 1
    assert message in result.stderr
    assert "leave -k out" in result.stderr


def test_ask_needs_a_session(run: Run, photos: Path) -> None:
    result = run("ask", photos)
    assert result.exit_code == 1
    assert "is not a session" in result.stderr


@pytest.mark.slow
def test_ask_saves_answers_and_undoes_them(run: Run, photos: Path) -> None:
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
    assert "There is nothing to undo." in ended.stdout
    assert ended.stdout.count("Undone: can't tell.") == 2
    assert "1 answer in total, all saved." in ended.stdout
    with Session.open(path) as session:
        (entry,) = session.answers("colour")
        assert (entry.answer, entry.who) == ("different", "ada")
    assert time.monotonic() - begin < 250


def test_help_states_that_nothing_leaves_the_machine(run: Run) -> None:
    text = " ".join(done(run("start", "--help")).stdout.split())
    assert "Nothing leaves this machine" in text
