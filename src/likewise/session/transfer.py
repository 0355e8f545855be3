"""Answers from session to session as JSON Lines: one answer a line, images by content hash."""

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from likewise.errors import AnswersFileError
from likewise.session.atomic import write_new
from likewise.session.session import Session
from likewise.session.sieve import Problem, Sieve

_N_SHOWN = 10  # of the problems in a message


@dataclass(frozen=True)
class Imported:
    """What became of an answers file.

    Parameters
    ----------
    n_imported : int
        Answers that are in the log now.
    n_doubled : int
        Lines that were in the log already, or stood in the file before.
    problems : tuple of Problem
        Lines that were left out, with their numbers from 1.
    """

    n_imported: int
    n_doubled: int
    problems: tuple[Problem, ...]


def export_answers(session: Session, path: str | PathLike[str], orientation: str = "") -> int:
    """Write the answers that stand to a new file; return how many.

    Parameters
    ----------
    session : Session
    path : path
        It must not exist yet.
    orientation : str, optional
        Only the answers of this one; all if empty.
    """
    lines = list(answer_lines(session, orientation))
    write_new(Path(path), lambda stream: stream.writelines(lines))
    return len(lines)


def answer_lines(session: Session, orientation: str = "") -> Iterator[str]:
    """Yield the answers that stand, one line of JSON each, in the order of the log."""
    chosen = (session.orientation(orientation),) if orientation else session.orientations
    found = [(entry, one.name) for one in chosen for entry in session.answers(one.name)]
    for entry, name in sorted(found, key=lambda pair: pair[0].id):
        yield json.dumps(entry.line(name), ensure_ascii=False) + "\n"


def import_answers(
    session: Session, path: str | PathLike[str], *, into: str = "", strict: bool = True
) -> Imported:
    """Take in an answers file, in one transaction.

    A line is left out if it is broken, names images or an orientation that are
    not in the session, or contradicts the answers before it. A line that was
    imported before, or stands in the file twice, is not taken in again.

    Parameters
    ----------
    session : Session
    path : path
    into : str, optional
        The orientation all answers are meant for, whatever the lines say.
    strict : bool
        Whether one bad line makes the whole file be refused; else the good
        lines are taken in and the bad ones listed.

    Raises
    ------
    AnswersFileError
        If the file cannot be read, or if `strict` and any line is bad; the
        message lists them, and nothing was imported.
    """
    lines = _read(Path(path))
    with session.lock:
        sieve = Sieve(session, into)
        for number, line in lines:
            sieve.take(number, line)
        if strict and sieve.problems:
            raise AnswersFileError(_refusal(Path(path), sieve.problems, len(lines)))
        session.tell_all(sieve.answers, stamp=False)
    return Imported(len(sieve.answers), sieve.n_doubled, tuple(sieve.problems))


def _read(path: Path) -> list[tuple[int, bytes]]:
    """Return the lines that are not empty, numbered from 1."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AnswersFileError(
            f"{path} cannot be read ({error.strerror}); check the path."
        ) from error
    lines = content.removeprefix(codecs.BOM_UTF8).split(b"\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def _refusal(path: Path, problems: list[Problem], n_lines: int) -> str:
    shown = [str(problem) for problem in problems[:_N_SHOWN]]
    if len(problems) > _N_SHOWN:
        shown.append(f"… and {len(problems) - _N_SHOWN} more.")
    return "\n".join(
        [
            f"{len(problems)} of the {n_lines} lines of {path} cannot be taken in, so nothing was "
            "imported; correct them, or ask for the rest to be imported.",
            *shown,
        ]
    )
