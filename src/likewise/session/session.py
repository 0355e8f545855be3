"""A session: one collection, its criteria, and the answers, groups and images stored on disk."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, Self

from likewise.constraints.constraint import AnswerResult
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer
from likewise.constraints.serialization import answer_from_line
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.images.collection import ImageCollection
from likewise.session.create import MODELS, create_folder, default_root, read_root, write_root
from likewise.session.criteria import Criteria, Criterion, check_printable, check_text
from likewise.session.database import Database
from likewise.session.groups import Group, Groups, check_change, check_merge, create_group
from likewise.session.images import Changes, Images
from likewise.session.log import (
    CONFIRM,
    RETRACT,
    Entry,
    Replay,
    append,
    append_answer,
    checked_line,
    find,
    stamped,
)


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
    >>> from likewise.images.arrays import ArrayCollection
    >>> images = ArrayCollection(np.arange(4, dtype=np.uint8).repeat(64).reshape(4, 8, 8))
    >>> folder = tempfile.TemporaryDirectory()
    >>> session = Session.create(Path(folder.name) / "holiday.likewise", images)
    >>> _ = session.add_criterion("season", n_clusters=2)
    >>> told = session.tell(Answer(Question.pair(0, 3), "same", criterion="season"))
    >>> session.graph("season").relation(0, 3).name, session.undo("season").id == told.id
    ('SAME', True)
    >>> session.close(); folder.cleanup()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._criteria = Criteria(database)
        self._replays: dict[int, Replay] = {}
        self.images = Images(database)

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
            The folder that its names are relative to, for export. By default
            the folder the collection was read from.

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
            If there is no session, or it cannot be read or written.
        SessionBusyError
            If `write` and another process has it open for writing.
        NewerSessionError
            If it was written by a newer release.
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

    def sync(self, collection: ImageCollection) -> Changes:
        """Update new, renamed, missing and broken images; see `Images.sync`."""
        with self.lock:
            root = default_root(collection)
            changes = self.images.sync(collection, root)
            write_root(self._database, self.path, root)
            self._replays.clear()
            return changes

    def reload(self) -> None:
        """Read the images from disk again, in case another process added some."""
        with self.lock:
            self.images.load()
            self._replays.clear()  # their graphs have the old number of images

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
            For example ``"season"``.
        n_clusters : int, optional
            Number of groups, if known.
        two_groups : bool
            Whether two images that both differ from a third are the same.
        """
        with self.lock:
            return self._criteria.add(name, n_clusters, two_groups=two_groups)

    def ensure_criterion(self, name: str, n_clusters: int | None = None) -> Criterion:
        """Return the criterion `name` with `n_clusters` groups; add or change it if necessary.

        Case and spaces are ignored when looking up the name.
        """
        with self.lock:
            known, two = self._criteria.find(name), n_clusters == 2
            if known is None:
                return self.add_criterion(name, n_clusters, two_groups=two)
            wanted = replace(known, n_clusters=n_clusters, two_groups=two)
            if n_clusters is None or wanted == known:
                return known
            return self.change_criterion(wanted)

    def change_criterion(self, changed: Criterion) -> Criterion:
        """Save ``replace(criterion, name=...)`` or another number of groups; answers are kept."""
        with self.lock:
            return self._criteria.change(changed)

    def model_folder(self, criterion: str) -> Path:
        """Return the folder of the model and results of a criterion."""
        return self.path / MODELS / self.criterion(criterion).folder

    def _current(self, criterion: Criterion) -> Replay:
        """Return the state of a criterion, up to date with the disk."""
        if not self._database.write and not self.images.is_current():
            self.reload()  # the writer, another process, added images
        replay = self._replays.get(criterion.id)
        if replay is None or replay.criterion != criterion:
            replay = Replay(self._database, self.images, criterion)
            self._replays[criterion.id] = replay
            replay.catch_up()
            _warn_about_invalid(replay)
        elif not self._database.write or replay.n_written != self._database.n_written:
            replay.catch_up()
        return replay

    # -- answers ----------------------------------------------------------------

    def tell(self, answer: Answer) -> AnswerResult:
        """Save one answer and add it to the graph.

        Returns
        -------
        told : AnswerResult
            Its id in the log; whether it was accepted or is a conflict, with the
            proof; how many pairs it settled.

        Raises
        ------
        InvalidParameterError
            If an image or the criterion is not in the session, or two of the
            images are copies of one file. Nothing was written.
        SessionError
            If it could not be written. Nothing was.
        """
        return self.tell_all([answer])[0]

    def tell_all(self, answers: Iterable[Answer], *, stamp: bool = True) -> list[AnswerResult]:
        """Save several answers in one transaction.

        Parameters
        ----------
        answers : iterable of Answer
        stamp : bool
            Whether answers without a time get the current one.
        """
        with self.lock:
            pairs = [(self.criterion(answer.criterion), answer) for answer in answers]
            replays = {one.id: self._current(one) for one, _ in pairs}
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
            replay = Replay(self._database, self.images, self.criterion(criterion))
            replay.catch_up()
            return replay

    def graph(self, criterion: str) -> ConstraintGraph:
        """Return the graph of all active answers, by their ids in the log.

        Ask for it again after every change: some changes create a new graph.
        """
        with self.lock:
            return self._current(self.criterion(criterion)).graph

    def answers(self, criterion: str, who: str | None = None) -> list[Entry]:
        """Return the active answers, of one person or of all, in order."""
        with self.lock:
            entries = self._current(self.criterion(criterion)).entries
            return [entry for entry in entries.active(who) if entry.is_answer]

    def entries(self, criterion: str) -> list[tuple[Entry, bool]]:
        """Return the whole log in order, each entry with whether it is active."""
        with self.lock:
            entries = self._current(self.criterion(criterion)).entries
            return [(entry, entries.is_active(entry.id)) for entry in entries.by_id.values()]

    def invalid_entries(self, criterion: str) -> dict[int, str]:
        """Return the entries of the log that cannot be used, and why; they have no effect."""
        with self.lock:
            return dict(self._current(self.criterion(criterion)).entries.invalid)

    def last_entry(self, criterion: str) -> int:
        """Return the id of the newest entry of the log, 0 if there is none."""
        with self.lock:
            return self._current(self.criterion(criterion)).entries.last

    def constraints_version(self, criterion: str) -> str:
        """Return a text that differs whenever the active constraints of a criterion differ."""
        with self.lock:
            two_groups = self.criterion(criterion).two_groups
            return f"{self.last_entry(criterion)} {'two groups' if two_groups else ''}".strip()

    def as_answer(self, entry: Entry) -> Answer:
        """Return an entry of the log as an answer with image positions."""
        name = self._criteria.by_id(entry.criterion).name
        return answer_from_line(entry.line(name), self.images.positions)

    def undo(self, criterion: str, who: str | None = None) -> Entry | None:
        """Retract the newest active entry, of one person or of all.

        Unlimited, also after a restart. Returns the retracted entry, None if
        there is none left.
        """
        with self.lock:
            entry = self._current(self.criterion(criterion)).entries.last_active(who)
            return entry and self._retract(entry, who)

    def retract(self, number: int, who: str = "") -> Entry:
        """Retract any entry of the log; retracting a retraction restores the entry.

        Raises
        ------
        InvalidParameterError
            If there is no such entry, or it is already retracted.
        """
        with self.lock:
            entry = find(self._database, number)
            if entry is None:
                raise InvalidParameterError(f"Entry {number} is not in the log of this session.")
            return self._retract(entry, who)

    def _retract(self, entry: Entry, who: str | None) -> Entry:
        replay = self._current(self._criteria.by_id(entry.criterion))
        if entry.id not in replay.entries.by_id:
            raise InvalidParameterError(
                f"Entry {entry.id} is not valid and has no effect, so it cannot be retracted."
            )
        by = replay.entries.retracted_by(entry.id)
        if by is not None:
            raise InvalidParameterError(
                f"Entry {entry.id} is already retracted by entry {by}; retract {by} to restore it."
            )
        self._append(replay, [(RETRACT, {"retracts": entry.id})], who or "")
        return entry

    def confirm(self, criterion: str, number: int, images: Iterable[int], who: str = "") -> None:
        """Record that an answer was reviewed and is right, and so are the groups of `images`.

        It is an entry in the log, and can be retracted like an answer.
        """
        with self.lock:
            replay, entry = self._current(self.criterion(criterion)), find(self._database, number)
            fields = {
                "images": [self.images.hashes[i] for i in images],
                "answer": str(number),
                "groups": [entry.answer] if entry else [],
            }
            self._append(replay, [(CONFIRM, fields)], who)

    def confirmed(self, criterion: str) -> dict[int, tuple[int, ...]]:
        """Return the confirmed answers, each with the images whose group was confirmed."""
        with self.lock:
            entries = self._current(self.criterion(criterion)).entries
            found, at = [e for e in entries.active() if e.kind == CONFIRM], self.images.positions
            return {int(one.answer): tuple(at[h] for h in one.images if h in at) for one in found}

    def _append(
        self, replay: Replay, entries: Sequence[tuple[str, dict[str, Any]]], who: str
    ) -> None:
        """Write entries that are not answers to the log, then apply them."""
        check_text("who", who)
        check_printable("a person", who)
        with self._database.transaction() as db:
            number = replay.criterion.id
            written = [append(db, number, kind, **fields, who=who) for kind, fields in entries]
        replay.apply(written)

    # -- groups -----------------------------------------------------------------

    def groups(self, criterion: str) -> Groups:
        """Return the groups with their current names and colours."""
        with self.lock:
            return self._current(self.criterion(criterion)).read_groups()

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
            group = groups[key]  # raises if it does not exist
            check_change(name=name, colour=colour)
            if merge_into is not None:
                check_merge(groups, key, merge_into)
            changes = {"rename": name, "colour": colour, "merge": merge_into}
            entries: list[tuple[str, dict[str, Any]]] = []
            for kind, value in changes.items():
                if value is not None:
                    into = [value] if kind == "merge" else []
                    entries.append((kind, {"group": group.key, "answer": value, "groups": into}))
            self._append(self._current(self.criterion(criterion)), entries, who)
            return self.groups(criterion)[key]


def _warn_about_invalid(replay: Replay) -> None:
    """Warn about entries of the log that cannot be used."""
    invalid = list(replay.entries.invalid.items())
    if invalid:
        shown = "; ".join(f"entry {number}: {reason:.200}" for number, reason in invalid[:5])
        more = f"; and {len(invalid) - 5:,} more" if len(invalid) > 5 else ""
        warnings.warn(
            LikewiseWarning(
                f"{len(invalid):,} entries of the log of {replay.criterion.name!r} are not valid "
                f"and are left out ({shown}{more}). The other answers are not affected."
            ),
            stacklevel=4,
        )
