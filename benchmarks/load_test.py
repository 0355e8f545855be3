"""Load test of the server: several clients answer, listen to events and fetch views."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.synthetic_load_data import group_of

_AGAIN = 0.2  # seconds between two requests for the status


@dataclass
class Seen:
    """Result of a load test: seconds per answer, errors, acknowledged entries, seconds per view."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    looks: dict[str, list[float]] = field(default_factory=dict)
    n_trained: int = 0
    is_training: bool = False


class Caller:
    """One connection to the server at the address that `likewise start` printed."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._headers = {"Authorization": f"Bearer {parse_qs(parts.query)['token'][0]}"}
        self._wire = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)

    def __call__(self, method: str, path: str, body: object = None) -> Any:
        """Return the reply; raise the server's error."""
        sent = None if body is None else json.dumps(body)
        self._wire.request(
            method, path, sent, {**self._headers, "Content-Type": "application/json"}
        )
        reply = self._wire.getresponse()
        content = reply.read()
        if reply.status >= 400:
            raise OSError(f"{method} {path}: {reply.status} {content[:200]!r}")
        return json.loads(content)

    def news(self) -> http.client.HTTPResponse:
        """Return the stream of server-sent events."""
        self._wire.request("GET", "/api/events", headers=self._headers)
        return self._wire.getresponse()


def right_answer(question: dict[str, Any]) -> str:
    """Return the correct answer, derived from the file names."""
    first, *others = (group_of(name) for name in question["names"])
    if question["kind"] == "pair":
        return "same" if first == others[0] else "different"
    keys = zip(question["groups"], others, strict=True)
    return next((key for key, other in keys if other == first), "none")


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
        self._pause, self._seconds = n_clients / rate, seconds
        self._lock = threading.Lock()
        self.seen = Seen()

    def run(self) -> Seen:
        """Run all clients and return the result."""
        self._begin = time.perf_counter()
        self._end = self._begin + self._seconds
        jobs: list[Callable[[int], None]] = [self._answer, self._listen]
        threads = [
            threading.Thread(target=self._safely, args=(job, number), daemon=True)
            for number in range(self._n_clients)
            for job in jobs
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(self._seconds + 60)
        return self.seen

    def _safely(self, job: Callable[[int], None], number: int) -> None:
        try:
            job(number)
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self.seen.errors.append(f"client {number}: {error!r}")

    def _answer(self, number: int) -> None:
        """Answer at a constant rate; late answers are not made up for."""
        call, client = Caller(self._address), f"client {number}"
        line = call("GET", f"/api/questions?n=4&client={number}")["questions"]
        due = self._begin + self._pause * number / self._n_clients
        while due < self._end and line:
            time.sleep(max(0.0, due - time.perf_counter()))
            due = max(due + self._pause, time.perf_counter() - self._pause)
            said = {"question": line[0], "answer": right_answer(line[0]), "seconds": self._pause}
            started = time.perf_counter()
            reply = call("POST", "/api/answers", {**said, "who": client, "client": str(number)})
            self.seen.seconds.append(time.perf_counter() - started)
            self.seen.acknowledged.append(reply["id"])
            line = reply["questions"]
        if not line:
            self.seen.errors.append(f"client {number} got no question")

    def _listen(self, number: int) -> None:
        """Fetch what a page fetches at each event; client 0 shows the groups, client 1 the map."""
        call, news = Caller(self._address), Caller(self._address).news()
        next_look = 0.0
        while time.perf_counter() < self._end:
            line = news.readline()
            if not line:
                raise OSError("the event stream ended")
            if line.startswith(b"event: answers") and time.perf_counter() >= next_look:
                self._look(call, "/api/status")
                next_look = time.perf_counter() + _AGAIN
            elif line.startswith(b"event: training"):
                self.seen.is_training = True
            elif line.startswith(b"event: trained"):
                self._trained(call, number)

    def _trained(self, call: Caller, number: int) -> None:
        if number == 0:
            self.seen.n_trained += 1
            self._look(call, "/api/groups")
        elif number == 1:
            self._look(call, "/api/map")

    def _look(self, call: Caller, path: str) -> None:
        started = time.perf_counter()
        call("GET", path)
        with self._lock:
            self.seen.looks.setdefault(path, []).append(time.perf_counter() - started)
