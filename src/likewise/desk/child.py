"""The training child: ``python -m likewise.desk.child SESSION ENCODER``; torch lives here only.

It reads orders on stdin (``{"train": "season"}``), answers in the session's database, and says
on stdout what it found, one JSON object a line. It ends with its parent.
"""

import ctypes
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.desk.messages import Message, pack, unpack
from likewise.errors import LikewiseError

if TYPE_CHECKING:
    from likewise.desk.pupil import Pupil

_PR_SET_PDEATHSIG = 1
LOOK = ""  # an order: the pictures are others now; no orientation has an empty name


def main(session: str, encoder: str) -> None:
    """Embed what has no vector yet, then train what is ordered, until the parent is gone."""
    end_with_parent()
    voice = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no message

    def say(message: Message) -> None:
        os.write(voice, pack(message))

    orders = _orders()
    try:
        _work(Path(session), encoder, say, orders)
    except LikewiseError as error:
        say({"event": "trouble", "message": str(error)})
        threading.Event().wait()  # trying again would not help; a person must


def _work(path: Path, encoder: str, say: "Say", orders: "queue.SimpleQueue[str]") -> None:
    from likewise.desk.pupil import Pupil, Vectors
    from likewise.session.session import Session

    with Session.open(path, write=False) as session:
        is_first = True
        while True:
            vectors = Vectors.of(session, encoder, say)
            if is_first:
                leave_room()
            is_first = False
            say({"event": "ready", "n_images": len(vectors.positions)})
            pupils: dict[int, Pupil] = {}
            while (order := _next_order(orders)) != LOOK:
                _study(session, vectors, pupils, order, say)
            session.reload()  # there are other pictures now


def _study(
    session: "Session", vectors: "Vectors", pupils: "dict[int, Pupil]", name: str, say: "Say"
) -> None:
    from likewise.desk.pupil import Pupil

    try:
        orientation = session.criterion(name)
        if orientation.id not in pupils:
            pupils[orientation.id] = Pupil(session, orientation, vectors, say)
        pupils[orientation.id].study(orientation)
    except LikewiseError as error:
        if session.images.is_current() and len(session.images) == vectors.n_known:
            say({"event": "trouble", "orientation": name, "message": str(error)})
        # else pictures came meanwhile: we are about to be told to look, and begin anew


def _next_order(orders: "queue.SimpleQueue[str]") -> str:
    """Return the orientation to train next, or `LOOK`; of equal orders one is enough."""
    name = orders.get()
    rest = []
    while not orders.empty():
        rest.append(orders.get())
    for other in dict.fromkeys(rest):
        if other != name:
            orders.put(other)
    return name


def _orders() -> "queue.SimpleQueue[str]":
    """Return what comes in on stdin; its end is ours."""
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            message = unpack(line)
            if message is not None and isinstance(message.get("train"), str):
                orders.put(message["train"])
            elif message is not None and message.get("look"):
                orders.put(LOOK)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    return orders


def leave_room() -> None:
    """Train on half the cores: the other half belongs to the page and whoever looks at it."""
    import torch
    from threadpoolctl import threadpool_limits

    os.nice(5)  # and of that half, rather what nobody else wants
    n = max(1, (os.cpu_count() or 2) // 2)
    torch.set_num_threads(n)
    threadpool_limits(n)


def end_with_parent() -> None:
    """Ask the system to be killed when the parent is; elsewhere the end of stdin says it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if TYPE_CHECKING:
    from likewise.desk.pupil import Say, Vectors
    from likewise.session.session import Session

if __name__ == "__main__":
    main(*sys.argv[1:])
