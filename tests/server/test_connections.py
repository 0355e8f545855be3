"""Limits of connections and requests, and the time of a request on a kept-alive connection."""

import http.client
import json
import logging
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from likewise.server import serve
from likewise.server.serve import RepeatedErrorFilter, max_connections
from likewise.workspace.workspace import Workspace
from tests.server.conftest import AUTHORISED
from tests.server.test_serve import SERVER, served
from tests.workspace.images import make_session, paint_folder

LOCAL = "127.0.0.1"
REQUEST = f"GET /api/status HTTP/1.1\r\nHost: {LOCAL}\r\nAuthorization: "


@pytest.fixture
def port(workspace: Workspace) -> Iterator[int]:
    with served(workspace) as (_, client):
        yield client.base_url.port or 0


def connect(port: int) -> socket.socket:
    return socket.create_connection((LOCAL, port), timeout=20)


def seconds_until_closed(client: socket.socket) -> float:
    started = time.monotonic()
    try:
        while client.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - started


def test_further_requests_on_a_connection_take_less_than_10_ms(port: int) -> None:
    connection = http.client.HTTPConnection(LOCAL, port, timeout=20)
    rounds = [_percentile_95(connection) for _ in range(3)]  # of which other load may delay some
    connection.close()
    assert min(rounds) < 0.01


def _percentile_95(connection: http.client.HTTPConnection) -> float:
    seconds = []
    for _ in range(41):
        started = time.perf_counter()
        connection.request("GET", "/api/criteria", headers=AUTHORISED)
        response = connection.getresponse()
        assert response.status == 200
        assert json.loads(response.read())
        seconds.append(time.perf_counter() - started)
    return statistics.quantiles(seconds[1:], n=20)[-1]


def test_incomplete_headers_are_waited_for_a_limited_time(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "HEADER_SECONDS", 1.0)
    with connect(port) as silent, connect(port) as slow:
        slow.sendall(REQUEST.encode())
        time.sleep(0.7)
        slow.sendall(b"x")  # a further byte does not prolong the time
        assert seconds_until_closed(slow) < 0.8
        assert seconds_until_closed(silent) < 0.8


def test_incomplete_headers_of_a_further_request_are_waited_for_a_limited_time(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "HEADER_SECONDS", 0.5)
    with connect(port) as client:
        client.sendall(f"{REQUEST}{AUTHORISED['Authorization']}\r\n\r\nGET / HT".encode())
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        assert seconds_until_closed(client) < 2


def test_an_incomplete_body_is_waited_for_a_limited_time(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "BODY_SECONDS", 0.5)
    head = f"{REQUEST}{AUTHORISED['Authorization']}\r\nContent-Length: 100\r\n\r\n"
    with connect(port) as client:
        client.sendall(head.replace("GET /api/status", "POST /api/undo").encode() + b"{")
        assert seconds_until_closed(client) < 2


def test_a_request_in_time_is_answered(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "HEADER_SECONDS", 0.5)
    with connect(port) as client:
        for part in (REQUEST, AUTHORISED["Authorization"], "\r\n\r\n"):
            client.sendall(part.encode())
            time.sleep(0.1)
        assert client.recv(4096).startswith(b"HTTP/1.1 200")
        time.sleep(0.6)  # the connection stays open for the next request
        client.sendall(f"{REQUEST}{AUTHORISED['Authorization']}\r\n\r\n".encode())
        assert client.recv(4096)


@pytest.mark.parametrize("limit", ["MAX_CONNECTIONS", "MAX_PER_ADDRESS"])
def test_connections_above_the_limit_are_rejected(
    port: int, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(serve, limit, 4)
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(4)]
        time.sleep(0.2)
        with connect(port) as rejected:
            head, _, body = rejected.recv(4096).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503")
        assert set(json.loads(body)) == {"error", "message"}
        clients[0].close()
        time.sleep(0.2)
        with connect(port) as client:
            client.sendall(f"{REQUEST}{AUTHORISED['Authorization']}\r\n\r\n".encode())
            assert client.recv(4096).startswith(b"HTTP/1.1 200")


def test_the_limit_of_connections_leaves_file_descriptors_for_the_rest() -> None:
    n_files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, most))
        assert max_connections() == 36
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (n_files, most))


@pytest.mark.slow
@pytest.mark.parametrize("n_files", [40, 100])
def test_the_server_recovers_from_the_limit_of_file_descriptors(
    tmp_path: Path, n_files: int
) -> None:
    """With 40, accepting fails; with 100, connections above the limit are rejected."""
    session = make_session(paint_folder(tmp_path / "photos"))
    session.close()
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({n_files},) * 2)\n"
    command = [sys.executable, "-c", limit + SERVER, str(session.path)]
    unlimited = "serve.max_connections = lambda: 1000\n" if n_files == 40 else ""
    command[2] = f"from likewise.server import serve\n{unlimited}{command[2]}"
    with (
        open(tmp_path / "errors", "w+b") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            with ExitStack() as stack:
                for _ in range(110):
                    stack.enter_context(connect(port))
                time.sleep(2.5)
            end, status = time.monotonic() + 10, 0
            while status != 201 and time.monotonic() < end:
                status = _answer(port)
            assert status == 201
        finally:
            server.terminate()
        server.wait(20)
        errors.seek(0)
        assert len(errors.read().splitlines()) < 60


def _answer(port: int) -> int:
    body = {"question": {"kind": "pair", "images": [0, 1]}, "answer": "different"}
    try:
        url = f"http://{LOCAL}:{port}/api/answers"
        return httpx.post(url, json=body, headers=AUTHORISED, timeout=3).status_code
    except httpx.HTTPError:
        time.sleep(0.2)
        return 0


def test_repeated_errors_are_logged_once_in_a_minute_with_their_number() -> None:
    now = [0.0]
    limit = RepeatedErrorFilter(clock=lambda: now[0])

    def record(text: str, *args: object) -> logging.LogRecord:
        return logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, text, args, None)

    passed = [limit.filter(record("100% invalid")) for _ in range(5)]
    assert passed == [True, False, False, False, False]
    assert limit.filter(record("another from %s", "a"))
    assert not limit.filter(record("another from %s", "b"))
    now[0] = 61.0
    again = record("100% invalid")
    assert limit.filter(again)
    assert again.getMessage() == "100% invalid (4 more of these were omitted)"
    now[0] = 122.0
    last = record("100% invalid")
    assert limit.filter(last)
    assert last.getMessage() == "100% invalid"


def test_the_number_of_errors_that_are_remembered_is_limited() -> None:
    limit = RepeatedErrorFilter()
    for number in range(1000):
        limit.filter(logging.LogRecord("x", logging.ERROR, "", 0, f"error {number}", (), None))
    assert len(limit._seen) <= limit._MAX_KEYS
