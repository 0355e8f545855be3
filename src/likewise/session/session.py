"""A session: one collection, its criteria, and the answers, groups and images stored on disk."""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, Self

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer
from likewise.constraints.serialization import answer_from_line
from likewise.errors import InvalidParameterError
from likewise.images.collection import ImageCollection
from likewise.session.create import (
    MODELS,
    create_folder,
    default_root,
    is_listed,
    read_is_listed,
    read_root,
    write_root,
)
from likewise.session.criteria import Criteria, Criterion, check_printable, check_text
from likewise.session.database import Database
from likewise.session.groups import Group, Groups, change_entries, check_change, create_group
from likewise.session.images import Changes, Images
from likewise.session.log import (
    Entry,
    append_action,
    append_answer,
    checked_line,
    find,
    kind_and_fields,
    stamped,
)
from likewise.session.replay import Replay, Replays


class Session:
    """An open session folder; create it with `create`, open it with `open`.

    Thread-safe. Every change is on disk, with fsync, before its method returns.
    Hold `lock` while reading a graph that other threads may change.

    Attributes
    ----------
    images : Images

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from likewise.constraints.question import Question
    >>> from likewise.images.in_memory import ArrayCollection
    >>> images = ArrayCollection(np.arange(4, dtype=np.uint8).repeat(64).reshape(4, 8, 8))
    >>> folder = tempfile.TemporaryDirectory()
    >>> session = Session.create(Path(folder.name, "holiday.likewise"), images)
    >>> _ = session.add_criterion("season", n_clusters=2)
    >>> told = session.tell(Answer(Question.pair(0, 3), "same", criterion="season"))
    >>> session.graph("season").relation(0, 3).name, session.undo("season").id == told.id
    ('SAME', True)
    >>> session.close(); folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._criteria = Criteria(database)
        self.images: Images = Images(database)
        self._replays = Replays(database, self.images)

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        collection: ImageCollection,
        *,
        root: str | PathLike[str] | None = None,
    ) -> Self:
        """Create a session in a new folder and open it for writing.

        Parameters
        ----------
        path : path
            The folder to create, by convention ``NAME.likewise``.
        collection : ImageCollection
            Its image ``i`` gets position ``i`` in the session.
        root : path, optional
            The folder that its names are relative to; by default the folder it was read from.

        Raises
        ------
        SessionError
            If `path` exists or cannot be written.
        """
        create_folder(Path(path), collection, Path(root) if root is not None else None)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | PathLike[str], *, write: bool = True) -> Self:
        """Open a session, for reading only if `write` is false.

        Raises
        ------
        SessionError
            If there is none, it cannot be read or written, or a newer release wrote it.
        SessionBusyError
            If `write` and another process has it open for writing.
        """
        database = Database(Path(path).absolute(), write=write)
        try:
            return cls(database)
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        """Close the session and release the writer lock."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """Return the folder of the session."""
        return self._database.folder

    @property
    def lock(self) -> RLock:
        """Return the reentrant lock that every method acquires."""
        return self._database.lock

    # -- images -----------------------------------------------------------------

    @property
    def root(self) -> Path | None:
        """Return the folder that contains the images, or None if they are not files."""
        return read_root(self._database, self.path)

    @property
    def is_listed(self) -> bool:
        """Return whether the images are listed in a table, so that new ones are not looked for."""
        return read_is_listed(self._database)

    def sync(self, collection: ImageCollection) -> Changes:
        """Update new, renamed, missing and broken images; see `Images.sync`."""
        with self.lock:
            root = default_root(collection)
            changes = self.images.sync(collection, root)
            write_root(self._database, self.path, root, is_listed=is_listed(collection))
            self._replays.clear()
            return changes

    def reload(self) -> None:
        """Read the images from disk again, in case another process added some."""
        with self.lock:
            self._replays.reload()

    # -- criteria ---------------------------------------------------------------

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria, oldest first."""
        return self._criteria.all()

    def criterion(self, name: str = "") -> Criterion:
        """Return the criterion `name`; the empty name is the only criterion of the session."""
        return self._criteria.get(name)

    def add_criterion(
        self, name: str, n_clusters: int | None = None, *, two_groups: bool = False
    ) -> Criterion:
        """Add a criterion.

        Parameters
        ----------
        name : str
        n_clusters : int, optional
            Number of groups, if known.
        two_groups : bool
            Whether two images that both differ from a third are the same.
        """
        with self.lock:
            return self._criteria.add(name, n_clusters, two_groups=two_groups)

    def ensure_criterion(self, name: str, n_clusters: int | None = None) -> Criterion:
        """Return the criterion `name` with `n_clusters` groups; add or change it if necessary."""
        with self.lock:
            return self._criteria.ensure(name, n_clusters)

    def change_criterion(self, changed: Criterion) -> Criterion:
        """Save ``replace(criterion, ...)`` with another name, number of groups or wording."""
        with self.lock:
            return self._criteria.change(changed)

    def model_folder(self, criterion: str) -> Path:
        """Return the folder of the model and results of a criterion."""
        return self.path / MODELS / self.criterion(criterion).folder

    def _current(self, criterion: str) -> Replay:
        """Return the state of a criterion, up to date with the disk."""
        return self._replays.current(self.criterion(criterion))

    # -- answers ----------------------------------------------------------------

    def tell(self, answer: Answer) -> AnswerResult:
        """Save one answer and add it to the graph; on an error nothing is written.

        Raises
        ------
        InvalidParameterError
            If an image or the criterion is not in the session, or two of the images are copies.
        SessionError
            If it could not be written.
        """
        return self.tell_all([answer])[0]

    def tell_all(self, answers: Iterable[Answer], *, stamp: bool = True) -> list[AnswerResult]:
        """Save several answers in one transaction; `stamp` adds missing times.

        The transaction syncs the journal and the database to disk (`Database.transaction`). Then
        the answers are added to the constraint graph; those that contradict it become conflicts.
        """
        with self.lock:
            pairs = [(self.criterion(answer.criterion), answer) for answer in answers]
            replays = {one.id: self._replays.current(one) for one, _ in pairs}
            lines = [
                (one.id, checked_line(self.images, stamped(answer) if stamp else answer))
                for one, answer in pairs
            ]
            with self._database.transaction() as db:
                entries = [append_answer(db, number, line) for number, line in lines]
            told: dict[int, AnswerResult] = {}
            for number, replay in replays.items():
                new = replay.apply(entry for entry in entries if entry.criterion == number)
                told.update((one.id, one) for one in new)
            return [told[entry.id] for entry in entries]

    def copy_replay(self, criterion: str) -> Replay:
        """Return an independent copy of the state of a criterion, to validate answers with."""
        with self.lock:
            return self._replays.copy(self.criterion(criterion))

    def graph(self, criterion: str) -> ConstraintGraph:
        """Return the graph of all active answers, by their ids in the log.

        Ask for it again after every change: some changes create a new graph.
        """
        with self.lock:
            return self._current(criterion).graph

    def answers(self, criterion: str, who: str | None = None) -> list[Entry]:
        """Return the active answers, of one person or of all, in order."""
        with self.lock:
            entries = self._current(criterion).entries
            return [entry for entry in entries.active(who) if entry.is_answer]

    def entries(self, criterion: str) -> list[tuple[Entry, bool]]:
        """Return the whole log in order, each entry with whether it is active."""
        with self.lock:
            entries = self._current(criterion).entries
            return [(entry, entries.is_active(entry.id)) for entry in entries.by_id.values()]

    def last_entry(self, criterion: str) -> int:
        """Return the id of the newest entry of the log, 0 if there is none."""
        with self.lock:
            return self._current(criterion).entries.last

    def constraints_version(self, criterion: str) -> str:
        """Return a text that differs whenever the active constraints of a criterion differ."""
        with self.lock:
            two_groups = self.criterion(criterion).two_groups
            return f"{self.last_entry(criterion)} {'two groups' if two_groups else ''}".strip()

    def as_answer(self, entry: Entry) -> Answer:
        """Return an entry of the log as an answer with image positions."""
        name = self._criteria.by_id(entry.criterion).name
        return answer_from_line(entry.line(name), self.images.positions)

    def act(
        self, criterion: str, answers: Iterable[Answer], retracts: Iterable[int] = (), who: str = ""
    ) -> list[AnswerResult]:
        """Retract entries and save answers in one transaction, as one action.

        One `undo` retracts all of these answers and restores what was retracted.

        Parameters
        ----------
        criterion, answers, who
        retracts : iterable of int
            Active entries that the answers replace.
        """
        with self.lock:
            replay = self._current(criterion)
            lines = [checked_line(self.images, stamped(answer)) for answer in answers]
            entries = [*replay.entries.retractions(retracts), *map(kind_and_fields, lines)]
            return self._append(replay, entries, who)

    def undo(self, criterion: str, who: str | None = None) -> Entry | None:
        """Undo the newest action that has an active entry, of one person or of all.

        Unlimited, also after a restart. Returns the first answer of the action, or else its newest
        entry; None if there is no action left.
        """
        with self.lock:
            entry = self._current(criterion).entries.last_active(who)
            if entry is None:
                return None
            undone = self.undo_action(criterion, entry.id, who or "")
            return next((one for one in undone if one.is_answer), entry)

    def undo_action(self, criterion: str, number: int, who: str = "") -> list[Entry]:
        """Retract every active entry of the action that an entry belongs to; return them.

        Answers that the action had retracted are active again.
        """
        with self.lock:
            replay = self._current(criterion)
            active = replay.entries.active_of_action(number)
            self._append(replay, replay.entries.retractions(one.id for one in active), who)
            return active

    def retract(self, number: int, who: str = "") -> Entry:
        """Retract any active entry of the log; retracting a retraction restores the entry."""
        with self.lock:
            entry = find(self._database, number)
            if entry is None:
                raise InvalidParameterError(f"Entry {number} is not in the log of this session.")
            replay = self._replays.current(self._criteria.by_id(entry.criterion))
            self._append(replay, replay.entries.retractions([number]), who)
            return entry

    def confirm(self, criterion: str, number: int, images: Iterable[int], who: str = "") -> None:
        """Add an entry that confirms an answer, and the groups of `images` too."""
        with self.lock:
            replay, hashes = self._current(criterion), [self.images.hashes[i] for i in images]
            self._append(replay, [replay.entries.confirmation(number, hashes)], who)

    def confirmed(self, criterion: str) -> dict[int, tuple[int, ...]]:
        """Return the confirmed answers, each with the images whose group was confirmed."""
        with self.lock:
            confirmed = self._current(criterion).entries.confirmed()
            at = self.images.positions
            return {n: tuple(at[h] for h in hashes if h in at) for n, hashes in confirmed.items()}

    def _append(
        self, replay: Replay, entries: Sequence[tuple[str, dict[str, Any]]], who: str
    ) -> list[AnswerResult]:
        """Write entries as one action, then apply them; return the results of the answers."""
        check_text("who", who)
        check_printable("a person", who)
        with self._database.transaction() as db:
            signed = [(kind, {"who": who, **fields}) for kind, fields in entries]
            written = append_action(db, replay.criterion.id, signed)
        told = {one.id: one for one in replay.apply(written)}
        return [told[entry.id] for entry in written if entry.is_answer]

    # -- groups -----------------------------------------------------------------

    def groups(self, criterion: str) -> Groups:
        """Return the groups with their current names and colours."""
        with self.lock:
            return self._current(criterion).read_groups()

    def make_group(self, criterion: str, *, name: str = "", colour: str = "") -> Group:
        """Add a group with a new permanent key."""
        (made,) = self.make_groups(criterion, [name], colour=colour)
        return made

    def make_groups(self, criterion: str, names: Iterable[str], *, colour: str = "") -> list[Group]:
        """Add several groups in one transaction."""
        wanted = list(names)
        for name in wanted:
            check_change(name=name or None, colour=colour or None)
        with self.lock:
            number = self.criterion(criterion).id
            with self._database.transaction() as db:
                keys = [create_group(db, number, name=name, colour=colour) for name in wanted]
            groups = self.groups(criterion)
            return [groups[key] for key in keys]

    def change_group(
        self,
        criterion: str,
        key: str,
        *,
        name: str | None = None,
        colour: str | None = None,
        merge_into: str | None = None,
        who: str = "",
    ) -> Group:
        """Rename, colour or merge a group; each is a log entry and can be retracted.

        After a merge, labels with `key` refer to the group it was merged into.
        """
        with self.lock:
            groups = self.groups(criterion)
            entries = change_entries(groups, key, name=name, colour=colour, merge_into=merge_into)
            self._append(self._current(criterion), entries, who)
            return self.groups(criterion)[key]
