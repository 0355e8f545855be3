"""A session at work: all its orientations, one trainer, and everyone who wants to hear of it."""

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from likewise.constraints.question import Question
from likewise.desk.album import Album
from likewise.desk.messages import Message, to_question
from likewise.desk.sorting import Reply, Sorting
from likewise.desk.trainer import Trainer
from likewise.errors import LikewiseError
from likewise.session.answers import Entry
from likewise.session.orientations import Orientation
from likewise.session.session import Session

_SOON, _LATER = 5, 1.5  # answers after which training is due at once; else after these seconds
Listener = Callable[[Message], None]


class Desk:
    """Everything the page and the terminal need; safe to call from many threads.

    Parameters
    ----------
    session : Session
        Open for writing; the desk is its one writer and closes it in the end.
    encoder : str
    trains : bool
        Whether there is a trainer; without one questions are pairs at random.
    first : str, optional
        The orientation that is meant when none is named; else the oldest.
    """

    def __init__(
        self, session: Session, *, encoder: str = "bundled", trains: bool = True, first: str = ""
    ) -> None:
        self.session, self.encoder, self._first = session, encoder, first
        self.album = Album(session)
        self.state: Message = {"event": "starting"}
        self.trouble: str | None = None
        self.skipped: list[Message] = []
        self.n_deaths = 0  # of the trainer, since it was last ready
        self.is_ready = threading.Event()
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._sortings: dict[int, Sorting] = {}
        self._n_new: dict[str, int] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._is_closed = False
        self._trainer = Trainer(session.path, encoder, self._hear) if trains else None

    def __enter__(self) -> Self:
        if self._trainer is not None:
            self._trainer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the trainer and close the session."""
        with self._lock:
            self._is_closed = True
            for timer in self._timers.values():
                timer.cancel()
        if self._trainer is not None:
            self._trainer.stop()
        self.session.close()

    @property
    def trainer_pid(self) -> int | None:
        """Return the process id of the trainer, if it lives."""
        return None if self._trainer is None else self._trainer.pid

    # -- orientations -----------------------------------------------------------

    def sorting(self, name: str = "") -> Sorting:
        """Return one orientation at work; the empty name means the one to begin with."""
        if not name and self.session.orientations:
            name = self._first or self.session.orientations[0].name
        orientation = self.session.orientation(name)
        with self._lock:
            if orientation.id not in self._sortings:
                self._sortings[orientation.id] = Sorting(self.session, orientation.name)
                self._train(orientation.name)
            return self._sortings[orientation.id]

    def add_orientation(self, name: str, n_clusters: int | None) -> Orientation:
        """Begin another way to sort the same pictures."""
        two = n_clusters == 2
        orientation = self.session.add_orientation(name, n_clusters, two_groups=two)
        self.sorting(orientation.name)
        self.publish({"event": "orientations"})
        return orientation

    # -- answers ----------------------------------------------------------------

    def answer(
        self,
        name: str,
        question: Question,
        word: str,
        who: str = "",
        seconds: float | None = None,
    ) -> Reply:
        """Take in one answer; it is on disk when this returns."""
        sorting = self.sorting(name)
        reply = sorting.answer(question, word, who, seconds)
        self._answered(sorting, 1)
        return reply

    def move(self, name: str, images: list[int], key: str, who: str = "") -> list[Any]:
        """Put pictures into a group; each is an answer."""
        sorting = self.sorting(name)
        told = sorting.move(images, key, who)
        self._answered(sorting, _SOON)
        return told

    def undo(self, name: str, who: str | None = None) -> Entry | None:
        """Take back the newest thing said."""
        sorting = self.sorting(name)
        entry = sorting.undo(who)
        self._answered(sorting, 1)
        return entry

    def take_back(self, name: str, number: int, who: str = "") -> Entry:
        """Take back any entry of the log."""
        sorting = self.sorting(name)
        entry = sorting.take_back(number, who)
        self._answered(sorting, 1)
        return entry

    def _answered(self, sorting: Sorting, n: int) -> None:
        """Note that the answers changed: soon, or when the person pauses, it is time to train."""
        self.publish({"event": "answers", "orientation": sorting.name})
        with self._lock:
            name = sorting.name
            self._n_new[name] = self._n_new.get(name, 0) + n
            old = self._timers.pop(name, None)
            if old is not None:
                old.cancel()
            if self._n_new[name] >= _SOON:
                self._train(name)
            elif not self._is_closed:
                timer = threading.Timer(_LATER, self._train, (name,))
                timer.daemon = True
                self._timers[name] = timer
                timer.start()

    def _train(self, name: str) -> None:
        with self._lock:
            self._n_new[name] = 0
        if self._trainer is not None:
            self._trainer.ask({"train": name})

    # -- news -------------------------------------------------------------------

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called with all news, from any thread; call what is returned to stop."""
        with self._lock:
            self._listeners.append(listener)

        def stop() -> None:
            with self._lock, contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def publish(self, message: Message) -> None:
        """Tell everyone who listens."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(message)

    def _hear(self, message: Message) -> None:
        """Act on what the trainer says."""
        event = message.get("event")
        if event == "skipped":
            self.skipped.append(message)
            return
        if event == "questions":
            self._line_up(message)
            return
        self.state = message
        if event == "ready":
            self.trouble, self.n_deaths = None, 0
            self.is_ready.set()
            for sorting in list(self._sortings.values()):
                self._train(sorting.name)
        elif event == "trained":
            self._refresh(message)
        elif event in ("died", "trouble"):
            self.trouble = str(message.get("message") or message.get("reason"))
            self.n_deaths += event == "died"
            if event == "trouble":
                self.is_ready.set()
        self.publish(message)

    def _line_up(self, message: Message) -> None:
        sorting = self.sorting(message["orientation"])
        questions = []
        for packed in message["questions"]:
            with contextlib.suppress(LikewiseError, TypeError):
                questions.append(to_question(packed))
        with self.session.lock:
            if questions:
                sorting.line.fill(questions)

    def _refresh(self, message: Message) -> None:
        sorting = self.sorting(message["orientation"])
        sorting.refresh()
        sorting.n_violations = int(message.get("n_violations", 0))
        self.trouble = None
