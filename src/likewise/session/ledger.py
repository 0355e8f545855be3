"""Which entries of a log stand: what was said, less what was taken back."""

from collections import defaultdict
from collections.abc import Iterator

from likewise.session.answers import TAKE_BACK, Entry


class Ledger:
    """The entries of one orientation and which of them stand.

    A take-back makes an entry fall; taking back the take-back makes it stand
    again. So undo and redo are both additions, and neither has an end.

    Examples
    --------
    >>> ledger = Ledger()
    >>> _ = ledger.add(Entry(1, 1, "pair", answer="same"))
    >>> ledger.add(Entry(2, 1, "take_back", takes_back=1)).id, ledger.stands(1)
    (1, False)
    >>> ledger.add(Entry(3, 1, "take_back", takes_back=2)).id, ledger.stands(1)
    (1, True)
    """

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self._against: defaultdict[int, set[int]] = defaultdict(set)  # take-backs that stand
        self.last = 0  # the id read up to

    def add(self, entry: Entry) -> Entry:
        """Take in the next entry; return the one it concerns in the end.

        That is the entry itself, or what a take-back makes fall or stand again.
        """
        self.entries[entry.id] = entry
        self.last = entry.id
        concerned = entry
        while concerned.takes_back is not None:
            against = self._against[concerned.takes_back]
            if self.stands(concerned.id):
                against.add(concerned.id)
            else:
                against.discard(concerned.id)
            concerned = self.entries[concerned.takes_back]
        return concerned

    def stands(self, number: int) -> bool:
        """Return whether no take-back that stands itself speaks against an entry."""
        return not self._against.get(number)

    def taken_back_by(self, number: int) -> int | None:
        """Return the latest take-back that speaks against an entry, if it fell."""
        return max(self._against.get(number, ()), default=None)

    def standing(self, who: str | None = None) -> Iterator[Entry]:
        """Yield what stands, answers and changes of groups, in order."""
        for entry in self.entries.values():
            if entry.kind != TAKE_BACK and self.stands(entry.id) and who in (None, entry.who):
                yield entry

    def to_undo(self, who: str | None = None) -> Entry | None:
        """Return the newest entry that stands, of one person or of anybody."""
        mine = (e for e in reversed(self.entries.values()) if who in (None, e.who))
        return next((e for e in mine if e.kind != TAKE_BACK and self.stands(e.id)), None)

    def to_redo(self, who: str | None = None) -> Entry | None:
        """Return the take-back to take back, if nothing new was said since it.

        A take-back of a take-back is a redo itself and is passed over.
        """
        for entry in reversed(self.entries.values()):
            if who not in (None, entry.who) or not self.stands(entry.id):
                continue
            if entry.takes_back is None:
                return None
            if self.entries[entry.takes_back].takes_back is None:
                return entry
        return None
