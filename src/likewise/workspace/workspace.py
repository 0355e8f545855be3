"""Workspace: an open session with its criteria, training worker, folder watch and events."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, Self

from likewise.constraints.serialization import question_from_json
from likewise.errors import LikewiseError
from likewise.images.collection import Skipped
from likewise.session.criteria import Criterion
from likewise.session.images import Changes
from likewise.session.session import Session
from likewise.workspace.criterion import TRAIN_AFTER_ANSWERS, CriterionSession
from likewise.workspace.folder_watch import FolderWatch
from likewise.workspace.thumbnails import Thumbnails
from likewise.workspace.worker import Worker
from likewise.workspace.worker_process import Message

IMAGE_CHANGES = ("added", "renamed", "returned", "missing", "broken")
N_FIRST_THUMBNAILS = 4  # of a session on the start page
_TRAIN_IDLE_SECONDS = 1.5  # seconds without a further answer, after which training starts
Listener = Callable[[Message], None]


class EventBus:
    """Publish/subscribe event bus; thread-safe. Events are messages with the key ``event``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, from any thread; return a function that ends this."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock, contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, message: Message) -> None:
        """Call all listeners with an event."""
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(message)


class Workspace:
    """An open session with its criteria, worker, folder watch and event bus; thread-safe.

    Parameters
    ----------
    session : Session
        Open for writing; the workspace is its only writer and closes it.
    encoder : str
    has_worker : bool
        Whether a worker process trains; without one, questions are random pairs.
    default_criterion : str, optional
        The criterion of the empty name; by default the oldest.
    scan_at_once : bool
        Whether the image folder is scanned at the start, since not all of it was read yet.
    pictures : str, optional
        Of a session of vectors: folder or address of the images.

    Attributes
    ----------
    events : EventBus
        ``starting``, ``embedding`` {done, total}, ``ready`` {n_images}, ``training`` {criterion},
        ``trained`` {criterion, n_answers, n_moved, n_violations},
        ``worker_exited`` {reason, message, was_ready}, ``problem`` {message},
        ``answers`` {criterion}, ``groups`` {criterion}, ``criteria``,
        ``images`` {number of images by kind of change}, ``folder`` {message}.
    thumbnails : Thumbnails
    worker_state : dict
        The latest event of the worker.
    problem, folder_problem : str, optional
        Error messages about the worker and about the image folder.
    skipped_images : list of dict
        Images that could not be embedded: ``name`` and ``reason``.
    n_worker_exits : int
        Since the worker was last ready.
    is_ready : threading.Event
        Set when the worker has embedded all images, or cannot continue.
    """

    def __init__(
        self,
        session: Session,
        *,
        encoder: str = "bundled",
        has_worker: bool = True,
        default_criterion: str = "",
        scan_at_once: bool = False,
        pictures: str | None = None,
    ) -> None:
        self.session = session
        self.encoder = encoder
        self._default = default_criterion
        self.events: EventBus = EventBus()
        self.thumbnails: Thumbnails = Thumbnails(session, pictures)
        self.worker_state: Message = {"event": "starting"}
        self.problem: str | None = None
        self.folder_problem: str | None = None
        self.skipped_images: list[Message] = []
        self.n_worker_exits: int = 0
        self._has_failed_after_ready = False
        self.is_ready: threading.Event = threading.Event()
        self._lock = threading.RLock()
        self._criteria: dict[int, CriterionSession] = {}
        self._n_new: dict[str, int] = {}  # answers since training was last requested
        self._timers: dict[str, threading.Timer] = {}
        self._is_closed = False
        self._worker = Worker(session.path, encoder, self._receive) if has_worker else None
        self._watch = FolderWatch(
            session, self._images_changed, self._folder_changed, at_once=scan_at_once
        )

    def __enter__(self) -> Self:
        if self._worker is not None:
            self._worker.start()
            self._watch.start()
            # The first gallery needs this module; import it before a person waits for it.
            threading.Thread(target=import_module, args=("scipy.optimize",), daemon=True).start()
            threading.Thread(target=self._make_first_thumbnails, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _make_first_thumbnails(self) -> None:
        """Make the thumbnails that the start page shows of this session."""
        first = sorted(
            self.session.images.askable.tolist(), key=self.session.images.hashes.__getitem__
        )
        for image in first[:N_FIRST_THUMBNAILS]:
            with contextlib.suppress(LikewiseError, OSError):
                self.thumbnails.thumbnail(image)

    def close(self) -> None:
        """Stop the worker and close the session."""
        with self._lock:
            self._is_closed = True
            for timer in self._timers.values():
                timer.cancel()
        self._watch.stop()
        if self._worker is not None:
            self._worker.stop()
        self.session.close()

    @property
    def worker_pid(self) -> int | None:
        """Return the process id of the worker, None if it is not running."""
        return None if self._worker is None else self._worker.pid

    # -- criteria ---------------------------------------------------------------

    def criterion(self, name: str = "") -> CriterionSession:
        """Return a criterion at work; the empty name is the default criterion."""
        if not name and self.session.criteria:
            name = self._default or self.session.criteria[0].name
        stored = self.session.criterion(name)
        with self._lock:
            if stored.id not in self._criteria:
                opened = CriterionSession(self.session, stored.name, self._criterion_changed)
                self._criteria[stored.id] = opened
                self._train(stored.name)
            return self._criteria[stored.id]

    def add_criterion(self, name: str, n_clusters: int | None) -> Criterion:
        """Add a criterion; the embeddings are shared by all criteria."""
        added = self.session.add_criterion(name, n_clusters, two_groups=n_clusters == 2)
        self.criterion(added.name)
        self.events.publish({"event": "criteria"})
        return added

    def change_criterion(self, name: str, **changes: Any) -> Criterion:
        """Change the number of groups or the wording of a criterion; answers are kept.

        Parameters
        ----------
        name : str
        changes
            ``n_clusters``: an integer, or None if unknown; ``pair_text``, ``choice_text``: the
            questions in the person's words, empty for those made from the name.
        """
        known = self.session.criterion(name)
        for text in ("pair_text", "choice_text"):
            if text in changes:
                changes[text] = (changes[text] or "").strip() or None
        if "n_clusters" in changes:
            changes["two_groups"] = changes["n_clusters"] == 2
        changed = self.session.change_criterion(replace(known, **changes))
        if changed != known:
            self._train(name)
        self.events.publish({"event": "criteria"})
        return changed

    def _criterion_changed(self, name: str, event: str, n_answers: int) -> None:
        """Publish a change; request training after some answers, or when no further one arrives.

        The worker process receives ``{"train": name}`` and calls `TrainingJob.run`.
        """
        self.events.publish({"event": event, "criterion": name})
        if not n_answers:
            return
        with self._lock:
            self._n_new[name] = self._n_new.get(name, 0) + n_answers
            timer = self._timers.pop(name, None)
            if timer is not None:
                timer.cancel()
            if self._n_new[name] >= TRAIN_AFTER_ANSWERS:
                self._train(name)
            elif not self._is_closed:
                timer = threading.Timer(_TRAIN_IDLE_SECONDS, self._train, (name,))
                timer.daemon = True
                self._timers[name] = timer
                timer.start()

    def _train(self, name: str) -> None:
        with self._lock:
            self._n_new[name] = 0
        if self._worker is not None:
            self._worker.send({"train": name})

    # -- the image folder ---------------------------------------------------------

    @property
    def skipped_files(self) -> list[Skipped]:
        """Return the files of the folder that cannot be shown, by the last scan and the encoder."""
        embedding = (Skipped(one["name"], one["reason"]) for one in list(self.skipped_images))
        return list(dict.fromkeys([*self._watch.skipped, *embedding]))

    def rescan(self) -> Changes | None:
        """Scan the image folder now: new images are embedded, missing ones are recorded."""
        return self._watch.scan()

    def _images_changed(self, changes: Changes) -> None:
        self.thumbnails.refresh()
        for criterion in list(self._criteria.values()):
            criterion.images_changed()
        if self._worker is not None:
            self._worker.send({"reload": True})
        counts = {name: len(getattr(changes, name)) for name in IMAGE_CHANGES}
        self.events.publish({"event": "images", **counts})

    def _folder_changed(self, problem: str | None) -> None:
        if problem != self.folder_problem:
            self.folder_problem = problem
            self.events.publish({"event": "folder", "message": problem})

    # -- messages of the worker ----------------------------------------------------

    def _receive(self, message: Message) -> None:
        """Handle a message of the worker process, and publish it as an event for the pages.

        After ``trained``, `Status.load` reads the results that the worker has saved.
        """
        event = message.get("event")
        if event == "skipped":
            self.skipped_images.append(message)
            return
        if event == "questions":
            self._fill_queue(message)
            return
        self.worker_state = message
        if event == "ready":
            self._worker_ready()
        elif event == "trained":
            self.problem, self._has_failed_after_ready = None, False
            self.criterion(message["criterion"]).training_finished(message)
            message.pop("label_issues", None)
        elif event == "worker_exited":
            self.problem = str(message["message"])
            self._has_failed_after_ready = bool(message["was_ready"])
            self.n_worker_exits += 1
        elif event == "problem":
            self.problem = str(message.get("message"))
            self.is_ready.set()
        self.events.publish(message)

    def _worker_ready(self) -> None:
        """Train all criteria; after a failed training, its problem remains until one succeeds."""
        self.n_worker_exits = 0
        if not self._has_failed_after_ready:
            self.problem = None
        self.is_ready.set()
        for criterion in list(self._criteria.values()):
            self._train(criterion.name)

    def _fill_queue(self, message: Message) -> None:
        criterion = self.criterion(message["criterion"])
        questions = []
        for line in message["questions"]:
            with contextlib.suppress(LikewiseError, TypeError):
                questions.append(question_from_json(line))
        if questions:
            criterion.queue.fill(questions)
