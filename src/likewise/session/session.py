"""One person's work on disk: tell it answers, take them back, ask what follows from them."""

from collections.abc import Iterable

from likewise.constraints.facts import Told
from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Answer
from likewise.constraints.wire import from_line
from likewise.errors import InvalidParameterError
from likewise.session import groups as grouping
from likewise.session.answers import STAND_BY, TAKE_BACK, Entry, append, find
from likewise.session.folder import SessionFolder
from likewise.session.groups import Group, Groups
from likewise.session.orientations import check_writable
from likewise.session.replay import Replay
from likewise.session.taking import stamped, take_in


class Session(SessionFolder):
    """One person's work about one collection; open it with `open` or `create`.

    Every method may be called from many threads. Whatever changes the session
    is on disk, synced, before the method returns. Hold `lock` while reading a
    graph that other threads may tell answers to.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from likewise.constraints.question import Question
    >>> from likewise.images.arrays import ArrayCollection
    >>> pictures = ArrayCollection(np.arange(4, dtype=np.uint8).repeat(64).reshape(4, 8, 8))
    >>> folder = tempfile.TemporaryDirectory()
    >>> session = Session.create(Path(folder.name) / "holiday.likewise", pictures)
    >>> _ = session.add_orientation("season", n_clusters=2)
    >>> told = session.tell(Answer(Question.pair(0, 3), "same", orientation="season"))
    >>> session.graph("season").relation(0, 3).name, session.undo("season").id == told.id
    ('SAME', True)
    >>> session.close(); folder.cleanup()
    """

    def tell(self, answer: Answer) -> Told:
        """Take in one answer, to disk and then to memory.

        Returns
        -------
        told : Told
            Its number in the log; whether it was taken, or set aside because it
            contradicts earlier ones, with the proof; how many pairs it settled.

        Raises
        ------
        InvalidParameterError
            If it names images or an orientation that are not in the session, or
            two copies of one image. Nothing was written.
        SessionError
            If it could not be written. Nothing was.
        """
        return self.tell_all([answer])[0]

    def tell_all(self, answers: Iterable[Answer], *, stamp: bool = True) -> list[Told]:
        """Take in several answers at once: all of them, or none if one cannot be.

        Parameters
        ----------
        answers : iterable of Answer
        stamp : bool
            Whether answers without a time were given now; else they stay without.
        """
        with self.lock:
            meant = [
                (self.orientation(answer.orientation), stamped(answer) if stamp else answer)
                for answer in answers
            ]
            replays = {one.id: self._current(one) for one, _ in meant}
            numbers = take_in(self._store, self.images, meant)
            told = {one.id: one for replay in replays.values() for one in replay.catch_up()}
            return [told[number] for number in numbers]

    def rehearsal(self, orientation: str) -> Replay:
        """Return a state of one's own, to try answers on; later ones do not change it."""
        with self.lock:
            replay = Replay(self._store, self.images, self.orientation(orientation))
            replay.catch_up()
            return replay

    def graph(self, orientation: str) -> ConstraintGraph:
        """Return the graph of all answers that stand, by their numbers in the log.

        It knows which ones are set aside, and why. Ask for it anew after every
        change: a redo or a merge makes a new one.
        """
        with self.lock:
            return self._current(self.orientation(orientation)).graph

    def answers(self, orientation: str, who: str | None = None) -> list[Entry]:
        """Return the answers that stand, of one person or of all, in order."""
        with self.lock:
            ledger = self._current(self.orientation(orientation)).ledger
            return [entry for entry in ledger.standing(who) if entry.is_answer]

    def entries(self, orientation: str) -> list[tuple[Entry, bool]]:
        """Return the whole log in order, each entry with whether it stands."""
        with self.lock:
            ledger = self._current(self.orientation(orientation)).ledger
            return [(entry, ledger.stands(entry.id)) for entry in ledger.entries.values()]

    def last_entry(self, orientation: str) -> int:
        """Return the number of the newest entry of the log, 0 if there is none."""
        with self.lock:
            return self._current(self.orientation(orientation)).ledger.last

    def as_answer(self, entry: Entry) -> Answer:
        """Return an entry of the log as an answer about positions."""
        name = self._orientations.by_id(entry.orientation).name
        return from_line(entry.line(name), self.images.positions)

    def undo(self, orientation: str, who: str | None = None) -> Entry | None:
        """Take back the newest thing that stands, of one person or of anybody.

        It may be called again and again, also after a restart. Returns what was
        taken back, None if there is nothing left.
        """
        with self.lock:
            entry = self._current(self.orientation(orientation)).ledger.to_undo(who)
            return entry and self._take_back(entry, who)

    def redo(self, orientation: str, who: str | None = None) -> Entry | None:
        """Bring back what the last undo took, unless something new was said since."""
        with self.lock:
            entry = self._current(self.orientation(orientation)).ledger.to_redo(who)
            return entry and self._take_back(entry, who)

    def take_back(self, number: int, who: str = "") -> Entry:
        """Take back any entry of the log; taking back a take-back brings the old one back.

        Raises
        ------
        InvalidParameterError
            If there is no such entry, or it was taken back already.
        """
        with self.lock:
            entry = find(self._store, number)
            if entry is None:
                raise InvalidParameterError(
                    f"Entry {number} is not in the log of this session; list the log to see what "
                    "can be taken back."
                )
            return self._take_back(entry, who)

    def _take_back(self, entry: Entry, who: str | None) -> Entry:
        replay = self._current(self._orientations.by_id(entry.orientation))
        by = replay.ledger.taken_back_by(entry.id)
        if by is not None:
            raise InvalidParameterError(
                f"Entry {entry.id} was taken back already, by entry {by}; take back {by} to bring "
                "it back."
            )
        check_writable("who", who or "")
        with self._store.transaction() as db:
            append(db, entry.orientation, TAKE_BACK, takes_back=entry.id, who=who or "")
        replay.catch_up()
        return entry

    def stand_by(self, orientation: str, number: int, images: Iterable[int], who: str = "") -> None:
        """Note that an answer was meant as it is, and so are the places of `images`.

        It is an entry in the log, and can be taken back like an answer.
        """
        check_writable("who", who)
        known, hashes = self.orientation(orientation), [self.images.hashes[i] for i in images]
        entry = find(self._store, number)
        said = {"images": hashes, "answer": str(number), "groups": [entry.answer] if entry else []}
        with self.lock, self._store.transaction() as db:
            append(db, known.id, STAND_BY, **said, who=who)

    def stood_by(self, orientation: str) -> dict[int, tuple[int, ...]]:
        """Return the answers that people stand by, each with the images whose place is right."""
        with self.lock:
            ledger, at = self._current(self.orientation(orientation)).ledger, self.images.positions
            said = [entry for entry in ledger.standing() if entry.kind == STAND_BY]
            return {int(one.answer): tuple(at[h] for h in one.images if h in at) for one in said}

    def groups(self, orientation: str) -> Groups:
        """Return the groups as they are called and coloured now."""
        with self.lock:
            return self._current(self.orientation(orientation)).read_groups()

    def make_group(self, orientation: str, *, name: str = "", colour: str = "") -> Group:
        """Add a group with a key of its own, which never changes."""
        (made,) = self.make_groups(orientation, [name], colour=colour)
        return made

    def make_groups(
        self, orientation: str, names: Iterable[str], *, colour: str = ""
    ) -> list[Group]:
        """Add several groups at once: a thousand take no longer to be written than one."""
        wanted = list(names)
        for name in wanted:
            grouping.check_change(name=name or None, colour=colour or None)
        with self.lock:
            number = self.orientation(orientation).id
            with self._store.transaction() as db:
                keys = [grouping.make(db, number, name=name, colour=colour) for name in wanted]
            groups = self.groups(orientation)
            return [groups[key] for key in keys]

    def change_group(
        self,
        orientation: str,
        key: str,
        *,
        name: str | None = None,
        colour: str | None = None,
        merge_into: str | None = None,
        who: str = "",
    ) -> Group:
        """Rename, colour or merge a group; each is an entry in the log and can be taken back.

        After a merge, labels that name `key` mean the group it was merged into.
        """
        with self.lock:
            number, groups = self.orientation(orientation).id, self.groups(orientation)
            group = groups[key]  # which refuses one that nobody made
            grouping.check_change(name=name, colour=colour)
            if merge_into is not None:
                grouping.check_merge(groups, key, merge_into)
            said = {"rename": name, "colour": colour, "merge": merge_into}
            check_writable("who", who)
            with self._store.transaction() as db:
                for kind, value in said.items():
                    if value is not None:
                        shown = [value] if kind == "merge" else []
                        append(
                            db, number, kind, group=group.key, answer=value, groups=shown, who=who
                        )
            return self.groups(orientation)[key]
