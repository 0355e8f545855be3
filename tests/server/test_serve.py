"""The server process: its port, its events, and the answers stored when it is killed."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from likewise.errors import LikewiseError
from likewise.server.app import create_app
from likewise.server.serve import bind, make_server
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.server.conftest import AUTHORISED, TOKEN
from tests.workspace.images import make_session, paint_folder

N_KILLS = 5
SERVER = (
    "import sys\n"
    "from likewise.server.app import create_app\n"
    "from likewise.server.serve import bind, serve\n"
    "from likewise.session import Session\n"
    "from likewise.workspace.workspace import Workspace\n"
    "session = Session.open(sys.argv[1])\n"
    "with bind('127.0.0.1', 0) as bound, Workspace(session, has_worker=False) as workspace:\n"
    "    ready = lambda: print(bound.getsockname()[1], flush=True)\n"
    f"    serve(create_app(workspace, {TOKEN!r}), bound, ready)\n"
)


@pytest.mark.parametrize("host", ["203.0.113.7", "no..name"])
def test_a_host_of_another_machine_is_an_error(host: str) -> None:
    with pytest.raises(
        LikewiseError, match=r"--host must be an address of this machine, got .* omit --host"
    ):
        bind(host, 0)


def test_a_port_in_use_is_an_error() -> None:
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(LikewiseError, match=r"Cannot listen on .* Omit --port"):
            bind("127.0.0.1", taken.getsockname()[1])


@contextmanager
def served(workspace: Workspace) -> Iterator[tuple[uvicorn.Server, httpx.Client]]:
    """Serve in a thread; yield the server, and a client with the token."""
    ready = threading.Event()
    with bind("127.0.0.1", 0) as bound:
        server = make_server(create_app(workspace, TOKEN), ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        assert ready.wait(20)
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        try:
            with httpx.Client(base_url=address, headers=AUTHORISED, timeout=20) as client:
                yield server, client
        finally:
            server.should_exit = True
            thread.join(20)
        assert not thread.is_alive()


def test_events_are_streamed_and_end_with_the_server(workspace: Workspace) -> None:
    with served(workspace) as (server, client), client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: starting"
        question = {"kind": "pair", "images": [0, 2]}
        client.post(
            "/api/answers", json={"question": question, "answer": "same"}
        ).raise_for_status()
        data = [line for line in (next(lines) for _ in range(4)) if line.startswith("data")]
        assert json.loads(data[-1][5:]) == {"event": "answers", "criterion": "colour"}
        server.should_exit = True
        assert "event: closing" in list(lines)


def test_a_client_that_disconnects_is_unsubscribed(workspace: Workspace) -> None:
    with served(workspace) as (_, client):
        with client.stream("GET", "/api/events") as stream:
            lines = stream.iter_lines()  # the stream is closed with the iterator
            assert next(lines) == "event: starting"
            assert len(workspace.events._listeners) == 1
        end = time.monotonic() + 20
        while workspace.events._listeners and time.monotonic() < end:
            workspace.events.publish({"event": "criteria"})
            time.sleep(0.1)
        assert workspace.events._listeners == []


def answer_until_killed(port: int, life: int, acknowledged: list[str]) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=AUTHORISED) as client:
        for count in range(10**6):
            who = f"{life}-{count}"
            try:
                (question,) = client.get("/api/questions", params={"who": who}).json()["questions"]
                body = {"question": question, "answer": "cannot_tell", "who": who}
                response = client.post("/api/answers", json=body)
            except (httpx.HTTPError, ValueError):
                return
            assert response.status_code == 201
            acknowledged.append(who)


@pytest.mark.slow
def test_no_acknowledged_answer_is_lost_or_doubled_when_the_server_is_killed(
    tmp_path: Path,
) -> None:
    session = make_session(paint_folder(tmp_path / "photos", 80))
    path = session.path
    session.close()
    delays, acknowledged = random.Random(0), list[str]()
    for life in range(N_KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", SERVER, str(path)], stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            client = threading.Thread(target=answer_until_killed, args=(port, life, acknowledged))
            client.start()
            time.sleep(delays.uniform(0.2, 1.0))
            os.kill(server.pid, signal.SIGKILL)
            client.join(30)
    with Session.open(path) as session:
        found = Counter(entry.who for entry in session.answers("colour"))
    assert len(acknowledged) >= N_KILLS
    assert [who for who in acknowledged if found[who] != 1] == []
    assert (
        sum(found.values()) - len(acknowledged) <= N_KILLS
    )  # at most one answer in flight at each kill


def test_the_socket_is_bound_to_loopback() -> None:
    with bind("127.0.0.1", 0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
        assert bound.family == socket.AF_INET
