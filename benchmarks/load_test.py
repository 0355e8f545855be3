"""Load test of the page: clients that answer, receive events, and request what a page shows."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.synthetic_load_data import group_of

_STATUS_INTERVAL = 0.2  # seconds between two requests of the status by one client


@dataclass
class LoadResult:
    """Measurements of all clients.

    Parameters
    ----------
    seconds : list of float
        From sending each answer to receiving the next question.
    errors : list of str
    acknowledged : list of int
        Ids of the answers that the server has stored.
    request_seconds : dict of str to list of float
        Of the other requests, by path.
    n_trained : int
        Trainings that ended meanwhile.
    is_training : bool
        Whether a training has started.
    """

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    request_seconds: dict[str, list[float]] = field(default_factory=dict)
    n_trained: int = 0
    is_training: bool = False


class ApiClient:
    """One HTTP connection to the server at an address that `likewise start` printed."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._headers = {"Authorization": f"Bearer {parse_qs(parts.query)['token'][0]}"}
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        """Return the JSON of the response.

        Raises
        ------
        OSError
            If the server returns an error.
        """
        return json.loads(self.text(path, method, body))

    def text(self, path: str, method: str = "GET", body: object = None) -> str:
        """Return the text of the response."""
        sent = None if body is None else json.dumps(body)
        self._connection.request(
            method, path, sent, {**self._headers, "Content-Type": "application/json"}
        )
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise OSError(f"{method} {path}: {response.status} {content[:200]!r}")
        return content.decode("utf-8", "surrogateescape")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def events(self) -> http.client.HTTPResponse:
        """Return the stream of server-sent events."""
        self._connection.request("GET", "/api/events", headers=self._headers)
        return self._connection.getresponse()


def right_answer(question: dict[str, Any]) -> str:
    """Return the right answer, which follows from the names of the images."""
    first, *others = (group_of(name) for name in question["names"])
    if question["kind"] == "pair":
        return "same" if first == others[0] else "different"
    groups = zip(question["groups"], others, strict=True)
    return next((group for group, other in groups if other == first), "none")


class LoadTest:
    """Clients that together answer at a constant rate.

    Parameters
    ----------
    address : str
        With its token.
    n_clients : int
    rate : float
        Answers per second of all clients together.
    seconds : float
    """

    def __init__(self, address: str, n_clients: int, rate: float, seconds: float) -> None:
        self._address, self._n_clients = address, n_clients
        self._interval, self._seconds = n_clients / rate, seconds
        self._lock = threading.Lock()
        self.result = LoadResult()

    def run(self) -> LoadResult:
        """Run all clients and return their measurements."""
        self._start = time.perf_counter()
        self._end = self._start + self._seconds
        jobs: list[Callable[[int], None]] = [self._answer, self._receive_events]
        threads = [
            threading.Thread(target=self._run_job, args=(job, number), daemon=True)
            for number in range(self._n_clients)
            for job in jobs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._seconds + 60)
        return self.result

    def _run_job(self, job: Callable[[int], None], number: int) -> None:
        try:
            job(number)
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self.result.errors.append(f"client {number}: {error!r}")

    def _answer(self, number: int) -> None:
        """Answer at a steady rate; delays are not made up for."""
        call, who = ApiClient(self._address), f"client {number}"
        questions = call("GET", f"/api/questions?n=4&client={number}")["questions"]
        due = self._start + self._interval * number / self._n_clients
        while due < self._end and questions:
            time.sleep(max(0.0, due - time.perf_counter()))
            due = max(due + self._interval, time.perf_counter() - self._interval)
            body = {
                "question": questions[0],
                "answer": right_answer(questions[0]),
                "seconds": self._interval,
                "who": who,
                "client": str(number),
            }
            started = time.perf_counter()
            reply = call("POST", "/api/answers", body)
            self.result.seconds.append(time.perf_counter() - started)
            self.result.acknowledged.append(reply["id"])
            questions = reply["questions"]
        if not questions:
            self.result.errors.append(f"client {number} received no further question")

    def _receive_events(self, number: int) -> None:
        """Request what a page requests after each event; one client shows groups, one the map."""
        call, stream = ApiClient(self._address), ApiClient(self._address).events()
        next_status = 0.0
        while time.perf_counter() < self._end:
            line = stream.readline()
            if not line:
                raise OSError("the event stream ended")
            if line.startswith(b"event: answers") and time.perf_counter() >= next_status:
                self._request(call, "/api/status")
                next_status = time.perf_counter() + _STATUS_INTERVAL
            elif line.startswith(b"event: training"):
                self.result.is_training = True
            elif line.startswith(b"event: trained"):
                self._trained(call, number)

    def _trained(self, call: ApiClient, number: int) -> None:
        if number == 0:
            self.result.n_trained += 1
            self._request(call, "/api/groups")
        elif number == 1:
            self._request(call, "/api/map")

    def _request(self, call: ApiClient, path: str) -> None:
        started = time.perf_counter()
        call("GET", path)
        with self._lock:
            seconds = self.result.request_seconds.setdefault(path, [])
            seconds.append(time.perf_counter() - started)
