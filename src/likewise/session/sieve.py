"""Sort the lines of an answers file into good, doubled and bad ones; nothing is written."""

import json
from dataclasses import dataclass
from typing import Any

from likewise.constraints.facts import Fact
from likewise.constraints.question import Answer
from likewise.constraints.wire import from_line
from likewise.errors import AnswersFileError, LikewiseError
from likewise.session.orientations import Orientation
from likewise.session.replay import Replay
from likewise.session.session import Session
from likewise.session.taking import checked_line


@dataclass(frozen=True)
class Problem:
    """A line that was not taken in, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


class Sieve:
    """Takes lines in order and keeps those that fit the session and one another.

    Attributes
    ----------
    answers : list of Answer
        The good ones.
    n_doubled : int
    problems : list of Problem
    """

    def __init__(self, session: Session, into: str = "") -> None:
        self._session, self._into = session, into
        self._seen: dict[int, set[str]] = {}
        self._rehearsals: dict[int, Replay] = {}
        self.answers: list[Answer] = []
        self.n_doubled = 0
        self.problems: list[Problem] = []

    def take(self, number: int, line: bytes) -> None:
        """Sort one line in."""
        try:
            orientation, answer = self._read(line)
            if self._is_doubled(orientation, answer):
                self.n_doubled += 1
                return
            self._rehearse(orientation, answer)
        except LikewiseError as error:
            self.problems.append(Problem(number, str(error)))
        else:
            self.answers.append(answer)

    def _read(self, line: bytes) -> tuple[Orientation, Answer]:
        fields = _parse(line)
        name = self._into or fields.get("orientation", "")
        if not isinstance(name, str):
            raise AnswersFileError(f"orientation {name!r} is not a text.")
        orientation = self._session.orientation(name)
        fields["orientation"] = orientation.name
        return orientation, from_line(fields, self._session.images.positions)

    def _is_doubled(self, orientation: Orientation, answer: Answer) -> bool:
        """Return whether the log or the file said exactly this before, taken back or not."""
        key = _key(checked_line(self._session.images, answer))
        if orientation.id not in self._seen:
            entries = self._session.entries(orientation.name)
            self._seen[orientation.id] = {
                _key(entry.line(orientation.name)) for entry, _ in entries if entry.is_answer
            }
        seen = self._seen[orientation.id]
        is_doubled = key in seen
        seen.add(key)
        return is_doubled

    def _rehearse(self, orientation: Orientation, answer: Answer) -> None:
        """Tell the answer to a graph of our own, to see whether it contradicts."""
        if orientation.id not in self._rehearsals:
            self._rehearsals[orientation.id] = self._session.rehearsal(orientation.name)
        told = self._rehearsals[orientation.id].rehearse(answer)
        if not told.taken:
            because = ", ".join(self._describe(fact) for fact in told.proof)
            raise AnswersFileError(f"contradicts earlier answers ({because}).")

    def _describe(self, fact: Fact) -> str:
        """Return a fact with the names of the pictures instead of their positions."""
        names = self._session.images.names
        second = names[fact.second] if isinstance(fact.second, int) else repr(fact.second)
        return f"{names[fact.first]} {fact.relation.sign} {second}"


def _parse(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise AnswersFileError(f"is not JSON ({error}).") from error
    if not isinstance(fields, dict):
        raise AnswersFileError(f"is not an answer but {type(fields).__name__}.")
    return fields


def _key(line: dict[str, Any]) -> str:
    return json.dumps(line, sort_keys=True)
