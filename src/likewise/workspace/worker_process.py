"""Main program of the training process; requests and messages are lines of JSON.

Protocol, one JSON object per line. On stdin it receives ``{"train": CRITERION}``, and
``{"reload": true}`` after the images of the session have changed. On stdout it sends events, see
`Workspace.events`, and in addition ``skipped`` {name, reason}, ``questions`` {criterion,
questions}, and ``failed`` {reason} before it exits because of an error. It reads answers from the
session and saves results in the session folder. It ends with its parent.
"""

import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import LikewiseError
from likewise.operating_system import end_with_parent, lower_priority

if TYPE_CHECKING:
    from likewise.session.session import Session
    from likewise.workspace.training_job import GrowingVectors, SessionVectors, TrainingJob

Message = dict[str, Any]
Send = Callable[[Message], None]
_RELOAD = ""  # instead of the name of a criterion, which is never empty
MAX_REASON = 300  # characters


def encode_message(message: Message) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def decode_message(line: bytes) -> Message | None:
    """Return the message of a line; None if it is incomplete because its sender was killed."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def main(session: str, encoder: str) -> None:
    """Embed all images without a vector, then train requested criteria until the parent ends."""
    end_with_parent()
    messages = os.dup(1)
    os.dup2(2, 1)  # output of libraries goes to stderr

    def send(message: Message) -> None:
        os.write(messages, encode_message(message))

    requests = _read_requests()
    try:
        _run(Path(session), encoder, send, requests)
    except LikewiseError as error:
        send({"event": "problem", "message": str(error)})
        threading.Event().wait()  # a restart would fail again; the person must act first
    except BaseException as error:  # the process is restarted, in case the cause is temporary
        send({"event": "failed", "reason": describe_error(error)})
        # Not `sys.exit`: the interpreter would end with a fatal error, since a thread reads stdin.
        os._exit(1)


def describe_error(error: BaseException) -> str:
    r"""Return the kind, the message and the place of an error in one line of limited length.

    Examples
    --------
    >>> describe_error(ValueError("a\nb"))
    'ValueError: a b'
    """
    text = " ".join(str(error).split())[:MAX_REASON]
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def _run(path: Path, encoder: str, send: Send, requests: "queue.SimpleQueue[str]") -> None:
    from likewise.session.session import Session
    from likewise.workspace.training_job import GrowingVectors

    with Session.open(path, write=False) as session:
        is_first = True
        while True:
            growing = GrowingVectors(session, encoder, send)
            vectors: SessionVectors | None = growing.first()
            if is_first:
                limit_cpu_use()
            is_first = False
            while vectors is not None:
                send({"event": "ready", "n_images": len(vectors.positions)})
                vectors = _serve(session, vectors, growing, send, requests)
            session.reload()


def _serve(
    session: "Session",
    vectors: "SessionVectors",
    growing: "GrowingVectors",
    send: Send,
    requests: "queue.SimpleQueue[str]",
) -> "SessionVectors | None":
    """Train what is requested, and embed more images when nothing is.

    Returns
    -------
    vectors : SessionVectors or None
        Of more images; None if the session has to be read again.
    """
    jobs: dict[int, TrainingJob] = {}
    while True:
        while requests.empty() and not growing.is_complete:
            more = growing.grow()
            if more is not None:
                return more
        name = _next_request(requests)
        if name == _RELOAD:
            return None
        _train(session, vectors, jobs, name, send)


def _train(
    session: "Session",
    vectors: "SessionVectors",
    jobs: "dict[int, TrainingJob]",
    name: str,
    send: Send,
) -> None:
    from likewise.workspace.training_job import TrainingJob

    try:
        criterion = session.criterion(name)
        if criterion.id not in jobs:
            jobs[criterion.id] = TrainingJob(session, criterion, vectors, send)
        jobs[criterion.id].run(criterion)
    except LikewiseError as error:
        # If images were added in the meantime, a reload is requested next and repeats the training.
        if session.images.is_current() and len(session.images) == vectors.n_known:
            send({"event": "problem", "criterion": name, "message": str(error)})


def _next_request(requests: "queue.SimpleQueue[str]") -> str:
    """Return the criterion to train next, or `_RELOAD`; equal requests are merged."""
    name = requests.get()
    rest = []
    while not requests.empty():
        rest.append(requests.get())
    for other in dict.fromkeys(rest):
        if other != name:
            requests.put(other)
    return name


def _read_requests() -> "queue.SimpleQueue[str]":
    """Return a queue of what arrives on stdin; the process exits when stdin is closed."""
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin.buffer:
            message = decode_message(line)
            if message is not None and isinstance(message.get("train"), str):
                requests.put(message["train"])
            elif message is not None and message.get("reload"):
                requests.put(_RELOAD)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return requests


def limit_cpu_use() -> None:
    """Train with half of the cores at low priority, so that the page stays responsive."""
    from threadpoolctl import threadpool_limits

    lower_priority()
    threadpool_limits(max(1, (os.cpu_count() or 2) // 2))  # also sets the threads of PyTorch


if __name__ == "__main__":
    main(*sys.argv[1:])
