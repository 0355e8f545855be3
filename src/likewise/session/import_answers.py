"""Import and export the answers of a session as JSON Lines."""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from likewise.constraints.constraint import Constraint
from likewise.constraints.question import Answer
from likewise.constraints.serialization import answer_from_line
from likewise.errors import AnswersFileError, LikewiseError
from likewise.images.collection import displayed_name
from likewise.session.atomic import write_new
from likewise.session.criteria import Criterion
from likewise.session.journal import is_header
from likewise.session.log import ANSWERS, Entry, checked_line
from likewise.session.replay import Entries, Replay
from likewise.session.session import Session

_N_SHOWN = 10  # problems listed in a message


@dataclass(frozen=True)
class Problem:
    """A line that was not imported, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True)
class Imported:
    """Result of an import.

    Parameters
    ----------
    n_imported : int
        Answers that were added to the log.
    n_duplicates : int
        Lines that were already in the log or appear earlier in the file.
    problems : tuple of Problem
        Lines that were skipped, numbered from 1.
    """

    n_imported: int
    n_duplicates: int
    problems: tuple[Problem, ...]


def export_answers(session: Session, path: str | PathLike[str], criterion: str = "") -> int:
    """Write the active answers to a new file; return how many.

    Parameters
    ----------
    session : Session
    path : path
        Must not exist.
    criterion : str, optional
        Only the answers of this criterion; all if empty.
    """
    lines = list(answer_lines(session, criterion))
    write_new(Path(path), lambda stream: stream.writelines(lines))
    return len(lines)


def answer_lines(session: Session, criterion: str = "") -> Iterator[str]:
    """Yield the active answers as lines of JSON, in the order of the log."""
    chosen = (session.criterion(criterion),) if criterion else session.criteria
    found = [(entry, one.name) for one in chosen for entry in session.answers(one.name)]
    for entry, name in sorted(found, key=lambda pair: pair[0].id):
        yield json.dumps(entry.line(name), ensure_ascii=False) + "\n"


def import_answers(
    session: Session, path: str | PathLike[str], *, into: str = "", strict: bool = True
) -> Imported:
    """Add the answers of a JSON Lines file to the log, in one transaction.

    A line is a problem if it is invalid, refers to images or a criterion that
    are not in the session, or contradicts the answers before it. A line that was
    imported before, or appears in the file twice, is not imported again. Files
    of release 0.1, with the field ``orientation`` for ``criterion``, are accepted, as is the
    journal ``answers.jsonl`` of a session, of which the active answers are imported.

    Parameters
    ----------
    session : Session
    path : path
    into : str, optional
        The criterion for all answers, instead of the one in each line.
    strict : bool
        Whether to import nothing if any line is a problem; else the other lines
        are imported and the problems listed.

    Raises
    ------
    AnswersFileError
        If the file cannot be read, or if `strict` and any line is a problem;
        then nothing was imported.
    """
    lines = _without_journal_fields(_read(Path(path)))
    with session.lock:
        validation = _Validation(session, into)
        for number, line in lines:
            validation.add(number, line)
        problems = validation.problems
        if strict and problems:
            raise AnswersFileError(_refusal(Path(path), problems, len(lines)))
        session.tell_all(validation.answers, stamp=False)
    return Imported(len(validation.answers), validation.n_duplicates, tuple(problems))


def _read(path: Path) -> list[tuple[int, bytes]]:
    """Return the non-empty lines, numbered from 1."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AnswersFileError(
            f"{path} cannot be read ({error.strerror}); check the path."
        ) from error
    lines = content.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _without_journal_fields(lines: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return the lines of the active answers if the file is the journal of a session."""
    if not lines or not is_header(lines[0][1]):
        return lines
    entries, kept = Entries(), []
    for number, line in lines[1:]:
        try:
            fields = _parse_json(line)
            if "id" not in fields:  # an image, a criterion or a group
                continue
            entries.add(Entry(fields["id"], 0, fields["kind"], retracts=fields["retracts"]))
            if fields["kind"] in ANSWERS:
                kept.append((number, line, fields["id"]))
        except (AnswersFileError, KeyError, TypeError):
            kept.append((number, line, 0))  # listed as a problem later
    return [(number, line) for number, line, entry in kept if entries.is_active(entry)]


def _refusal(path: Path, problems: list[Problem], n_lines: int) -> str:
    shown = [str(problem) for problem in problems[:_N_SHOWN]]
    if len(problems) > _N_SHOWN:
        shown.append(f"… and {len(problems) - _N_SHOWN} more.")
    return "\n".join(
        [
            f"{len(problems)} of the {n_lines} lines of {path} cannot be imported, so nothing was "
            "imported; correct them, or import without them.",
            *shown,
        ]
    )


class _Validation:
    """Separates the lines of a file into valid answers, duplicates and problems."""

    def __init__(self, session: Session, into: str = "") -> None:
        self._session, self._into = session, into
        self._seen: dict[int, set[str]] = {}
        self._replays: dict[int, Replay] = {}
        self.answers: list[Answer] = []
        self.n_duplicates = 0
        self.problems: list[Problem] = []

    def add(self, number: int, line: bytes) -> None:
        """Validate the next line."""
        try:
            criterion, answer = self._parse(line)
            if self._is_duplicate(criterion, answer):
                self.n_duplicates += 1
                return
            self._check_consistent(criterion, answer)
        except LikewiseError as error:
            self.problems.append(Problem(number, str(error)))
        else:
            self.answers.append(answer)

    def _parse(self, line: bytes) -> tuple[Criterion, Answer]:
        fields = _parse_json(line)
        old_name = fields.get("orientation", "")  # of release 0.1
        name = self._into or fields.get("criterion", old_name)
        if not isinstance(name, str):
            raise AnswersFileError(f"criterion must be a string, got {name!r}.")
        criterion = self._session.criterion(name)
        fields["criterion"] = criterion.name
        return criterion, answer_from_line(fields, self._session.images.positions)

    def _is_duplicate(self, criterion: Criterion, answer: Answer) -> bool:
        """Return whether the log, retracted or not, or the file contains an equal answer."""
        key = _key(checked_line(self._session.images, answer))
        if criterion.id not in self._seen:
            entries = self._session.entries(criterion.name)
            self._seen[criterion.id] = {
                _key(entry.line(criterion.name)) for entry, _ in entries if entry.is_answer
            }
        seen = self._seen[criterion.id]
        is_duplicate = key in seen
        seen.add(key)
        return is_duplicate

    def _check_consistent(self, criterion: Criterion, answer: Answer) -> None:
        """Add the answer to a copy of the graph; raise if it is a conflict."""
        if criterion.id not in self._replays:
            self._replays[criterion.id] = self._session.copy_replay(criterion.name)
        told = self._replays[criterion.id].tell(answer)
        if not told.accepted:
            proof = ", ".join(self._describe(fact) for fact in told.proof)
            raise AnswersFileError(f"contradicts earlier answers ({proof}).")

    def _describe(self, fact: Constraint) -> str:
        """Return a constraint with image names instead of positions."""
        names = [*map(displayed_name, self._session.images.names)]
        second = names[fact.second] if isinstance(fact.second, int) else repr(fact.second)
        return f"{names[fact.first]} {fact.relation.symbol} {second}"


def _parse_json(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise AnswersFileError(f"is not JSON ({error}).") from error
    if not isinstance(fields, dict):
        raise AnswersFileError(f"must be a JSON object, got {type(fields).__name__}.")
    return fields


def _key(line: dict[str, Any]) -> str:
    return json.dumps(line, sort_keys=True)
