"""The ways to sort one collection, each under the words of the person who means it."""

import re
import unicodedata
from dataclasses import dataclass

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session.store import Store


@dataclass(frozen=True)
class Orientation:
    """One way to sort the collection.

    Parameters
    ----------
    id : int
    name : str
        As the person says it: ``"season"``.
    n_clusters : int, optional
        How many groups are wanted; None where nobody knows yet.
    two_groups : bool
        Whether two images that both differ from a third are the same.
    folder : str
        Its folder below ``models/``.
    """

    id: int
    name: str
    n_clusters: int | None
    two_groups: bool
    folder: str


class Orientations:
    """The orientations of an open session, by name.

    A reader looks at the disk at every call; the one writer knows what it wrote.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: tuple[Orientation, ...] | None = None

    def all(self) -> tuple[Orientation, ...]:
        """Return all, the oldest first."""
        known = self._known
        if known is None or not self._store.write:
            known = self._known = self._read()
        return known

    def _read(self) -> tuple[Orientation, ...]:
        rows = self._store.rows(
            "SELECT id, name, n_clusters, two_groups, folder FROM orientation ORDER BY id"
        )
        return tuple(Orientation(i, name, k, bool(two), f) for i, name, k, two, f in rows)

    def get(self, name: str) -> Orientation:
        """Return the one called `name`; an empty name means the only one there is."""
        known = self.all()
        if not name and len(known) == 1:
            return known[0]
        if (found := self.find(name)) is not None:
            return found
        if not known:
            raise InvalidParameterError(
                f"Orientation {name!r} is not in this session, which has none yet; add one first."
            )
        if not name:
            raise InvalidParameterError(
                f"It is not said by which of {len(known)} criteria; give --by, one of: "
                f"{', '.join(sorted(one.name for one in known))}."
            )
        raise UnknownNameError("orientation", name, (one.name for one in known))

    def find(self, name: str) -> Orientation | None:
        """Return the one called `name`, capitals and spaces aside; None if there is none."""
        alike = [one for one in self.all() if _plain(one.name) == _plain(name)]
        exact = (one for one in alike if one.name == name)
        return next(exact, alike[0] if alike else None)

    def by_id(self, number: int) -> Orientation:
        """Return the one with this number, which the log speaks of."""
        return next(one for one in self.all() if one.id == number)

    def add(self, name: str, n_clusters: int | None, *, two_groups: bool) -> Orientation:
        """Add one; see `Session.add_orientation`."""
        check_text("an orientation", name)
        _check_clusters(n_clusters, two_groups)
        if (known := self.find(name)) is not None:
            raise InvalidParameterError(_taken(known.name))
        with self._store.transaction() as db:
            ((last,),) = db.execute("SELECT coalesce(max(id), 0) FROM orientation").fetchall()
            db.execute(
                "INSERT INTO orientation VALUES (?, ?, ?, ?, ?)",
                (last + 1, name, n_clusters, two_groups, folder_name(last + 1, name)),
            )
        self._known = None
        return self.get(name)

    def change(self, changed: Orientation) -> Orientation:
        """Keep another name, number of groups or meaning; see `Session.change_orientation`."""
        check_text("an orientation", changed.name)
        _check_clusters(changed.n_clusters, changed.two_groups)
        others = (one.name for one in self.all() if one.id != changed.id)
        taken = next((name for name in others if _plain(name) == _plain(changed.name)), None)
        if taken is not None and changed.name != self.by_id(changed.id).name:
            raise InvalidParameterError(_taken(taken))
        with self._store.transaction() as db:
            db.execute(
                "UPDATE orientation SET name = ?, n_clusters = ?, two_groups = ? WHERE id = ?",
                (changed.name, changed.n_clusters, changed.two_groups, changed.id),
            )
        self._known = None
        return self.by_id(changed.id)


def _plain(name: str) -> str:
    """Return a name without capitals and needless spaces: "Skin  Tone" is "skin tone"."""
    return " ".join(name.casefold().split())


def _taken(name: str) -> str:
    return f"Orientation {name!r} is already in this session; use it, or choose another name."


def folder_name(number: int, name: str) -> str:
    """Return a folder name that any disk takes, and in which a person finds `name` again.

    Examples
    --------
    >>> folder_name(2, "Été / hiver?")
    '2-ete-hiver'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{number}-{words}" if words else str(number)


def check_text(what: str, text: str) -> None:
    """Refuse a name that is blank or that no file can hold."""
    if not text.strip():
        raise InvalidParameterError(f"{text!r} cannot name {what}; give it some words.")
    check_writable(what, text)


def check_writable(what: str, text: str) -> None:
    """Refuse half characters (lone surrogates), which have no place in UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParameterError(
            f"{text!r} ({what}) holds half a character (a lone surrogate), which cannot be "
            "written to disk; leave it out."
        ) from None


def _check_clusters(n_clusters: int | None, two_groups: bool) -> None:
    if n_clusters is not None and n_clusters < 1:
        raise InvalidParameterError(
            f"n_clusters={n_clusters} is less than 1; choose at least 1, or None if unknown."
        )
    if two_groups and n_clusters != 2:
        raise InvalidParameterError(
            f"two_groups=True says that there are exactly two groups, but n_clusters={n_clusters}; "
            "choose n_clusters=2, or two_groups=False."
        )
