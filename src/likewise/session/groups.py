"""Groups that keep their key: what they are called, their colours, and which were merged."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session.answers import Entry
from likewise.session.orientations import check_text

# Told apart also by most people who see colours differently (after Okabe and Ito).
# Grey begins the second row: what has no group yet is grey as well.
COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#6a3d9a"),
    *("#777777", "#7f4a1e", "#f4a6a0", "#5f7300", "#8fd3b6", "#a3195b", "#3f5f73", "#c9b3f0"),
)


@dataclass(frozen=True)
class Group:
    """One group as it is shown now.

    Parameters
    ----------
    key : str
        Never changes; answers and models speak of it.
    name, colour : str
        As the person wants it; the colour as ``#rrggbb``.
    merged_into : str, optional
        The key of the group that stands for this one since a merge.
    """

    key: str
    name: str
    colour: str
    merged_into: str | None = None


class Groups:
    """The groups of one orientation: those that were made, and what people did to them.

    Parameters
    ----------
    made : iterable of (number, key, name, colour)
        The rows of the table, in order.
    changes : iterable of Entry
        Renames, colours and merges that stand, in the order of the log.
    """

    def __init__(self, made: Iterable[tuple[int, str, str, str]], changes: Iterable[Entry]) -> None:
        self._groups = {
            key: Group(key, name, colour or COLOURS[(number - 1) % len(COLOURS)])
            for number, key, name, colour in made
        }
        for change in changes:
            self._apply(change)

    def _apply(self, change: Entry) -> None:
        key = change.group or ""
        if key not in self._groups:
            return
        if change.kind == "merge":
            self._merge(self.resolve(key), self.resolve(change.groups[0]))
        else:
            field: dict[str, Any] = {"name" if change.kind == "rename" else "colour": change.answer}
            self._groups[key] = replace(self._groups[key], **field)

    def _merge(self, key: str, into: str) -> None:
        # After take-backs two merges may point at each other; then the later says nothing new.
        if key != into:
            self._groups[key] = replace(self._groups[key], merged_into=into)

    def __getitem__(self, key: str) -> Group:
        if key not in self._groups:
            raise UnknownNameError("group", key, self._groups)
        return self._groups[key]

    def __contains__(self, key: object) -> bool:
        return key in self._groups

    def all(self) -> tuple[Group, ...]:
        """Return every group, merged ones too, in the order they were made."""
        return tuple(self._groups.values())

    def shown(self) -> tuple[Group, ...]:
        """Return the groups that stand for themselves, in the order they were made."""
        return tuple(group for group in self.all() if group.merged_into is None)

    def resolve(self, key: str) -> str:
        """Return the key that stands for `key` after all merges; itself if there are none."""
        while key in self._groups and self._groups[key].merged_into is not None:
            key = self._groups[key].merged_into or key
        return key

    def name(self, key: str) -> str:
        """Return what a group is called; a key nobody made is its own name."""
        key = self.resolve(key)
        return self._groups[key].name if key in self._groups else key

    def key_of(self, name: str) -> str | None:
        """Return the key of the group shown under `name`, if there is one."""
        return next((group.key for group in self.shown() if group.name == name), None)


def make(
    db: sqlite3.Connection, orientation: int, *, key: str = "", name: str = "", colour: str = ""
) -> str:
    """Add a group inside the caller's transaction; return its key.

    Without a key it gets the next free one of g1, g2, …; a key that is there
    already is left as it is.
    """
    rows = db.execute(
        "SELECT number, key FROM made_group WHERE orientation = ? ORDER BY number", (orientation,)
    ).fetchall()
    taken = {row[1] for row in rows}
    number = rows[-1][0] + 1 if rows else 1
    if not key:
        key = next(k for i in range(number, 2 * number + 1) if (k := f"g{i}") not in taken)
    if key not in taken:
        db.execute(
            "INSERT INTO made_group VALUES (?, ?, ?, ?, ?)",
            (orientation, number, key, name or key, colour),
        )
    return key


def check_merge(groups: Groups, key: str, into: str) -> None:
    """Refuse a merge that names unknown groups or one group twice."""
    if groups.resolve(groups[key].key) == groups.resolve(groups[into].key):
        raise InvalidParameterError(
            f"{key!r} and {into!r} are already one group; choose two different ones."
        )


def check_change(*, name: str | None, colour: str | None) -> None:
    """Refuse a name that is blank or cannot be written, and what is not a colour."""
    if name is not None:
        check_text("a group", name)
    if colour is not None and not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        raise InvalidParameterError(f"{colour!r} is no colour; write it like {COLOURS[0]!r}.")
