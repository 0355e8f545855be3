"""Clients that answer without pause, count what was acknowledged, and send again what was not."""

import contextlib
import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.load_test import ApiClient, right_answer
from benchmarks.robustness.server_process import CRITERION
from likewise.session.session import Session

_UNSURE = 0.7  # share of the answers "cannot tell", so that there is always something to ask
_PAUSE = 0.02  # seconds after an error
_STEP = 10_000_000  # numbers of answers of one client


C = TypeVar("C", bound="Client")


@dataclass
class Client:
    """One client; the number of each of its answers is stored as `seconds`.

    Parameters
    ----------
    name : str
    first : int
        The number of its first answer.
    acknowledged : list of int
    n_refused : int
        Requests that the server answered with an error.
    n_waited : int
        Requests that the server answered without a question.
    n_resent : int
        Answers sent again after the server was killed.
    """

    name: str
    first: int
    acknowledged: list[int] = field(default_factory=list)
    n_refused: int = 0
    n_waited: int = 0
    n_resent: int = 0
    _n_sent: int = 0
    _pending: dict[str, Any] | None = None

    def answer(self, address: str) -> None:
        """Answer the questions of one server until the connection fails."""
        with contextlib.closing(ApiClient(address)) as call:
            self._answer(call)

    def _answer(self, call: ApiClient) -> None:
        choice = random.Random(f"{self.name} {self._n_sent}")
        questions: list[dict[str, Any]] = []
        self.n_resent += self._pending is not None
        with contextlib.suppress(
            http.client.HTTPException, ConnectionError, ValueError, TimeoutError
        ):
            while True:
                try:
                    if self._pending is None:
                        path = f"/api/questions?n=4&client={self.name}"
                        questions = questions or call("GET", path)["questions"]
                        self._pending = self._next(questions[0], choice)
                    reply = call("POST", "/api/answers", self._pending)
                except ConnectionError:
                    raise
                except (OSError, IndexError) as error:  # an error, or no question
                    self.n_refused += isinstance(error, OSError)
                    self.n_waited += isinstance(error, IndexError)
                    time.sleep(_PAUSE)
                    continue
                self.acknowledged.append(int(self._pending["seconds"]))
                self.note()
                self._pending, questions = None, reply["questions"]

    def note(self) -> None:
        """Do something when an answer was acknowledged; for subclasses."""

    def _next(self, question: dict[str, Any], choice: random.Random) -> dict[str, Any]:
        self._n_sent += 1
        answer = "cannot_tell" if choice.random() < _UNSURE else right_answer(question)
        own = {"who": self.name, "client": self.name, "seconds": float(self.first + self._n_sent)}
        return {"question": question, "answer": answer, **own}


def make_clients(n: int, kind: type[C]) -> list[C]:
    """Return clients whose answers have different numbers."""
    return [kind(f"client{number}", number * _STEP) for number in range(n)]


def start_clients(clients: Sequence[Client], address: str) -> list[threading.Thread]:
    """Let every client answer in a thread of its own."""
    threads = [threading.Thread(target=one.answer, args=(address,)) for one in clients]
    for thread in threads:
        thread.start()
    return threads


def check(session: Path, clients: Sequence[Client]) -> tuple[int, int]:
    """Return how many acknowledged answers are lost, and how many answers are stored twice."""
    with Session.open(session) as opened:
        assert opened._database.rows("PRAGMA integrity_check") == [("ok",)]
        found = Counter(int(entry.seconds or 0) for entry in opened.answers(CRITERION))
    acknowledged = [number for client in clients for number in client.acknowledged]
    n_lost = sum(found[number] == 0 for number in acknowledged)
    return n_lost, sum(count - 1 for count in found.values())
