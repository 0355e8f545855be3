"""The criteria of a session: named ways to group the same collection."""

import re
import unicodedata
from dataclasses import dataclass, field, replace

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.session.database import Database
from likewise.session.validation import check_criterion


@dataclass(frozen=True)
class Criterion:
    """One way to group the collection.

    Parameters
    ----------
    id : int
    name : str
        As the user calls it: ``"season"``.
    n_clusters : int, optional
        Number of groups; None if unknown.
    two_groups : bool
        Whether two images that both differ from a third are the same.
    folder : str
        Its folder below ``models/``.
    pair_text, choice_text : str, optional
        The questions in the person's words: ``"Same season?"``, ``"Which season?"``. Two criteria
        that differ in these only are equal: nothing has to be trained again.
    """

    id: int
    name: str
    n_clusters: int | None
    two_groups: bool
    folder: str
    pair_text: str | None = field(default=None, compare=False)
    choice_text: str | None = field(default=None, compare=False)


class Criteria:
    """The criteria of an open session, by name.

    A reader queries the database at every call; the writer caches them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cached: tuple[Criterion, ...] | None = None

    def all(self) -> tuple[Criterion, ...]:
        """Return all criteria, oldest first."""
        cached = self._cached
        if cached is None or not self._database.write:
            cached = self._cached = self._read()
        return cached

    def _read(self) -> tuple[Criterion, ...]:
        rows = self._database.rows(
            "SELECT id, name, n_clusters, two_groups, folder, pair_text, choice_text "
            "FROM criterion ORDER BY id"
        )
        for _, name, n_clusters, _, folder, *_ in rows:
            check_criterion(name, n_clusters, folder)
        return tuple(Criterion(i, name, k, bool(two), *rest) for i, name, k, two, *rest in rows)

    def get(self, name: str) -> Criterion:
        """Return the criterion `name`; the empty name is the only criterion of the session."""
        known = self.all()
        if not name and len(known) == 1:
            return known[0]
        if (found := self.find(name)) is not None:
            return found
        if not known:
            raise InvalidParameterError(
                f"Criterion {name!r} does not exist: the session has no criteria yet. Add one "
                "first."
            )
        if not name:
            raise InvalidParameterError(
                f"This session has {len(known)} criteria; choose one with --by: "
                f"{', '.join(sorted(one.name for one in known))}."
            )
        raise UnknownNameError("criterion", name, (one.name for one in known))

    def find(self, name: str) -> Criterion | None:
        """Return the criterion `name`, ignoring case and spaces; None if there is none."""
        similar = [one for one in self.all() if _normalized(one.name) == _normalized(name)]
        exact = (one for one in similar if one.name == name)
        return next(exact, similar[0] if similar else None)

    def by_id(self, number: int) -> Criterion:
        """Return the criterion with this id."""
        return next(one for one in self.all() if one.id == number)

    def add(self, name: str, n_clusters: int | None, *, two_groups: bool) -> Criterion:
        """Add a criterion; see `Session.add_criterion`."""
        check_name("a criterion", name)
        _check_clusters(n_clusters, two_groups)
        if (known := self.find(name)) is not None:
            raise InvalidParameterError(_exists(known.name))
        with self._database.transaction() as db:
            ((last,),) = db.execute("SELECT coalesce(max(id), 0) FROM criterion").fetchall()
            db.execute(
                "INSERT INTO criterion (id, name, n_clusters, two_groups, folder) "
                "VALUES (?, ?, ?, ?, ?)",
                (last + 1, name, n_clusters, two_groups, folder_name(last + 1, name)),
            )
        self._cached = None
        return self.get(name)

    def ensure(self, name: str, n_clusters: int | None) -> Criterion:
        """Return the criterion `name`, added or changed to `n_clusters` if necessary."""
        known, two_groups = self.find(name), n_clusters == 2
        if known is None:
            return self.add(name, n_clusters, two_groups=two_groups)
        wanted = replace(known, n_clusters=n_clusters, two_groups=two_groups)
        return known if n_clusters is None or wanted == known else self.change(wanted)

    def change(self, changed: Criterion) -> Criterion:
        """Save a changed name, number of groups or wording; see `Session.change_criterion`."""
        if changed.name != self.by_id(changed.id).name:
            check_name("a criterion", changed.name)
        _check_clusters(changed.n_clusters, changed.two_groups)
        for text in (changed.pair_text, changed.choice_text):
            if text is not None:
                check_name("a question", text)
        others = (one.name for one in self.all() if one.id != changed.id)
        equal = next((n for n in others if _normalized(n) == _normalized(changed.name)), None)
        if equal is not None and changed.name != self.by_id(changed.id).name:
            raise InvalidParameterError(_exists(equal))
        with self._database.transaction() as db:
            db.execute(
                "UPDATE criterion SET name = ?, n_clusters = ?, two_groups = ?, pair_text = ?, "
                "choice_text = ? WHERE id = ?",
                (
                    changed.name,
                    changed.n_clusters,
                    changed.two_groups,
                    changed.pair_text,
                    changed.choice_text,
                    changed.id,
                ),
            )
        self._cached = None
        return self.by_id(changed.id)


def _normalized(name: str) -> str:
    """Return a name in lower case with single spaces: "Skin  Tone" is "skin tone"."""
    return " ".join(name.casefold().split())


def _exists(name: str) -> str:
    return f"Criterion {name!r} is already in this session; use it, or choose another name."


def folder_name(number: int, name: str) -> str:
    """Return a folder name that is valid on every file system and resembles `name`.

    Examples
    --------
    >>> folder_name(2, "Été / hiver?")
    '2-ete-hiver'
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{number}-{words}" if words else str(number)


def check_name(what: str, text: str) -> None:
    """Raise if a name is blank, contains control characters or cannot be encoded."""
    if not text.strip():
        raise InvalidParameterError(f"The name of {what} must not be blank, got {text!r}.")
    check_text(what, text)
    check_printable(what, text)


def check_printable(what: str, text: str) -> None:
    """Raise if a name contains control characters: line breaks, tabs, terminal commands."""
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in text):
        raise InvalidParameterError(
            f"The name of {what} must not contain control characters, got {text!r:.80}; remove "
            "line breaks, tabs and the like."
        )


def check_text(what: str, text: str) -> None:
    """Raise if a text contains lone surrogates, which UTF-8 cannot encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidParameterError(
            f"{text!r} ({what}) contains a lone surrogate, which cannot be written as UTF-8; "
            "remove it."
        ) from None


def _check_clusters(n_clusters: int | None, two_groups: bool) -> None:
    if n_clusters is not None and n_clusters < 1:
        raise InvalidParameterError(
            f"n_clusters must be an integer >= 1 or None, got {n_clusters}."
        )
    if two_groups and n_clusters != 2:
        raise InvalidParameterError(
            f"two_groups=True requires n_clusters=2, got {n_clusters}; set n_clusters=2, or "
            "two_groups=False."
        )
