"""A session at work: all its orientations, one trainer, and everyone who wants to hear of it."""

import contextlib
import threading
from importlib import import_module
from typing import Self

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.question import Question
from likewise.desk.album import Album
from likewise.desk.board import Board
from likewise.desk.messages import Message, to_question
from likewise.desk.sorting import More, Reply, Sorting
from likewise.desk.trainer import Trainer
from likewise.desk.watching import FolderWatch
from likewise.errors import LikewiseError
from likewise.session.criteria import Criterion
from likewise.session.images import Changes
from likewise.session.log import Entry
from likewise.session.session import Session

_SOON, _LATER = 5, 1.5  # answers after which training is due at once; else after these seconds
CHANGES = ("added", "renamed", "returned", "missing", "broken")


class Desk(Board):
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
        super().__init__()
        self.session, self.encoder, self._first = session, encoder, first
        self.album = Album(session)
        self.state: Message = {"event": "starting"}
        self.trouble: str | None = None
        self.folder_trouble: str | None = None
        self.skipped: list[Message] = []
        self.n_deaths = 0  # of the trainer, since it was last ready
        self.is_ready = threading.Event()
        self._sortings: dict[int, Sorting] = {}
        self._n_new: dict[str, int] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._is_closed = False
        self._trainer = Trainer(session.path, encoder, self._hear) if trains else None
        self._watch = FolderWatch(session, self._pictures_changed, self._folder_troubled)

    def __enter__(self) -> Self:
        if self._trainer is not None:
            self._trainer.start()
            self._watch.start()
            # What the first gallery needs is loaded before somebody waits for it.
            threading.Thread(target=import_module, args=("scipy.optimize",), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the trainer and close the session."""
        with self._lock:
            self._is_closed = True
            for timer in self._timers.values():
                timer.cancel()
        self._watch.stop()
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
        if not name and self.session.criteria:
            name = self._first or self.session.criteria[0].name
        orientation = self.session.criterion(name)
        with self._lock:
            if orientation.id not in self._sortings:
                self._sortings[orientation.id] = Sorting(self.session, orientation.name)
                self._train(orientation.name)
            return self._sortings[orientation.id]

    def add_criterion(self, name: str, n_clusters: int | None) -> Criterion:
        """Begin another way to sort the same pictures."""
        two = n_clusters == 2
        orientation = self.session.add_criterion(name, n_clusters, two_groups=two)
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
        more: More = (0, ""),
    ) -> Reply:
        """Take in one answer; it is on disk when this returns, perhaps with the next questions."""
        sorting = self.sorting(name)
        reply = sorting.answer(question, word, who, seconds, more)
        self._answered(sorting, 1)
        return reply

    def move(self, name: str, images: list[int], key: str, who: str = "") -> list[AnswerResult]:
        """Put pictures into a group; each is an answer."""
        sorting = self.sorting(name)
        told = sorting.move(images, key, who)
        self._answered(sorting, _SOON)
        return told

    def split(
        self, name: str, images: list[int], called: str = "", who: str = ""
    ) -> tuple[str, list[AnswerResult]]:
        """Make a new group of pictures; each is an answer. Returns its key."""
        sorting = self.sorting(name)
        key, told = sorting.split(images, called, who)
        self._answered(sorting, _SOON)
        return key, told

    def undo(self, name: str, who: str | None = None) -> Entry | None:
        """Take back the newest thing said."""
        sorting = self.sorting(name)
        entry = sorting.undo(who)
        self._answered(sorting, 1)
        return entry

    def retract(self, name: str, number: int, who: str = "") -> Entry:
        """Take back any entry of the log."""
        sorting = self.sorting(name)
        entry = sorting.retract(number, who)
        self._answered(sorting, 1)
        return entry

    def confirm(self, name: str, number: int, who: str = "") -> None:
        """Say that a doubtful answer is right: it is not offered again, and the model trusts it."""
        sorting = self.sorting(name)
        sorting.confirm(number, who)
        self._answered(sorting, 1)

    def merged(self, sorting: Sorting) -> None:
        """Note that groups became one: older answers mean something else to the model."""
        self._answered(sorting, _SOON)

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

    # -- the folder -------------------------------------------------------------

    def rescan(self) -> Changes | None:
        """Look at the folder now: new pictures are embedded and placed, lost ones noted."""
        return self._watch.look()

    def _pictures_changed(self, changes: Changes) -> None:
        self.album.refresh()
        for sorting in list(self._sortings.values()):
            sorting.pictures_changed()
        if self._trainer is not None:
            self._trainer.ask({"look": True})
        counts = {name: len(getattr(changes, name)) for name in CHANGES}
        self.publish({"event": "pictures", **counts})

    def _folder_troubled(self, message: str | None) -> None:
        if message != self.folder_trouble:
            self.folder_trouble = message
            self.publish({"event": "folder", "message": message})

    # -- the trainer's news -----------------------------------------------------

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
        elif event == "died":
            why = message.get("reason")
            self.trouble = f"Learning stopped ({why}) and is being started again; answers are kept."
            self.n_deaths += 1
        elif event == "trouble":
            self.trouble = str(message.get("message"))
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
        sorting.refresh(message.get("n_settled"))
        sorting.suspicion.hear(message.pop("suspects", []))
        sorting.n_violations = int(message.get("n_violations", 0))
        self.trouble = None
