"""Groups of a criterion: permanent keys, names, colours and merges."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session.criteria import check_name

if TYPE_CHECKING:
    from likewise.session.log import Entry

# Distinguishable with most kinds of colour blindness (after Okabe and Ito). Grey is only the ninth,
# because images without a group are grey as well.
COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#6a3d9a"),
    *("#777777", "#7f4a1e", "#f4a6a0", "#5f7300", "#8fd3b6", "#a3195b", "#3f5f73", "#c9b3f0"),
)

_COLOUR = re.compile("#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class Group:
    """One group with its current name and colour.

    Parameters
    ----------
    key : str
        Never changes; answers and models refer to it.
    name, colour : str
        The colour as ``#rrggbb``.
    merged_into : str, optional
        The key of the group that this one was merged into.
    """

    key: str
    name: str
    colour: str
    merged_into: str | None = None


class Groups:
    """The groups of one criterion with all changes applied.

    Parameters
    ----------
    made : iterable of (number, key, name, colour)
        The rows of the database table, in order.
    changes : iterable of Entry
        Active renames, colours and merges, in the order of the log.
    """

    def __init__(
        self, made: Iterable[tuple[int, str, str, str]], changes: Iterable["Entry"]
    ) -> None:
        self._groups = {
            key: Group(key, name, _valid_colour(colour, number))
            for number, key, name, colour in made
        }
        for change in changes:
            self._apply(change)

    def _apply(self, change: "Entry") -> None:
        key = change.group or ""
        if key not in self._groups:
            return
        if change.kind == "merge":
            self._merge(self.resolve(key), self.resolve(change.groups[0]))
        else:
            field: dict[str, Any] = {"name" if change.kind == "rename" else "colour": change.answer}
            self._groups[key] = replace(self._groups[key], **field)

    def _merge(self, key: str, into: str) -> None:
        # After retractions two merges may point at each other; then the later has no effect.
        if key != into:
            self._groups[key] = replace(self._groups[key], merged_into=into)

    def __getitem__(self, key: str) -> Group:
        if key not in self._groups:
            raise UnknownNameError("group", key, self._groups)
        return self._groups[key]

    def __contains__(self, key: object) -> bool:
        return key in self._groups

    def all(self) -> tuple[Group, ...]:
        """Return every group, including merged ones, in order of creation."""
        return tuple(self._groups.values())

    def shown(self) -> tuple[Group, ...]:
        """Return the groups that were not merged into another, in order of creation."""
        return tuple(group for group in self.all() if group.merged_into is None)

    def resolve(self, key: str) -> str:
        """Return the key of the group that `key` was merged into, else `key`."""
        while key in self._groups and self._groups[key].merged_into is not None:
            key = self._groups[key].merged_into or key
        return key

    def name(self, key: str) -> str:
        """Return the name of a group; an unknown key is its own name."""
        key = self.resolve(key)
        return self._groups[key].name if key in self._groups else key

    def key_of(self, name: str) -> str | None:
        """Return the key of the shown group with this name, or None."""
        return next((group.key for group in self.shown() if group.name == name), None)


def _valid_colour(colour: str, number: int) -> str:
    """Return a colour of the database, or the default one of a group."""
    return colour if _COLOUR.fullmatch(colour) else COLOURS[(number - 1) % len(COLOURS)]


def create_group(
    db: sqlite3.Connection, criterion: int, *, key: str = "", name: str = "", colour: str = ""
) -> str:
    """Add a group inside the caller's transaction; return its key.

    Without a key it gets the next unused one of g1, g2, …. An existing key is
    not changed.
    """
    rows = db.execute(
        "SELECT number, key FROM made_group WHERE criterion = ? ORDER BY number", (criterion,)
    ).fetchall()
    taken = {row[1] for row in rows}
    number = rows[-1][0] + 1 if rows else 1
    if not key:
        key = next(k for i in range(number, 2 * number + 1) if (k := f"g{i}") not in taken)
    if key not in taken:
        db.execute(
            "INSERT INTO made_group VALUES (?, ?, ?, ?, ?)",
            (criterion, number, key, name or key, colour),
        )
    return key


def change_entries(
    groups: Groups, key: str, *, name: str | None, colour: str | None, merge_into: str | None
) -> list[tuple[str, dict[str, Any]]]:
    """Return the log entries, as kind and fields, that rename, colour and merge a group.

    Raises
    ------
    UnknownNameError
        If a group does not exist.
    InvalidParameterError
        If the name or colour is invalid, or both groups are already one.
    """
    group = groups[key]
    check_change(name=name, colour=colour)
    if merge_into is not None:
        check_merge(groups, key, merge_into)
    changes = {"rename": name, "colour": colour, "merge": merge_into}
    return [
        (kind, {"group": group.key, "answer": value, "groups": [value] if kind == "merge" else []})
        for kind, value in changes.items()
        if value is not None
    ]


def check_merge(groups: Groups, key: str, into: str) -> None:
    """Raise if a group is unknown or both are already one group."""
    if groups.resolve(groups[key].key) == groups.resolve(groups[into].key):
        raise InvalidParameterError(
            f"{key!r} and {into!r} are already one group; choose two different groups."
        )


def check_change(*, name: str | None, colour: str | None) -> None:
    """Raise if the name is blank or cannot be encoded, or the colour is invalid."""
    if name is not None:
        check_name("a group", name)
    if colour is not None and not _COLOUR.fullmatch(colour):
        raise InvalidParameterError(f"colour must look like {COLOURS[0]!r}, got {colour!r}.")
