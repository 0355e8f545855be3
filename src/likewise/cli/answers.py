"""`likewise answers`: the answers of a session, out and in."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import count_noun, note_list, print_json, say, write_table
from likewise.cli.options import AsJson, By, SessionPath, Strict
from likewise.cli.sessions import open_to_write
from likewise.errors import AnswersFileError, UnknownNameError

if TYPE_CHECKING:
    from likewise.session.import_answers import Imported
    from likewise.session.session import Session

FORMS = ("jsonl", "csv")
_COLUMNS = ("kind", "images", "answer", "group", "groups", "criterion", "who", "at", "seconds")


def answers(
    session: SessionPath,
    to: Annotated[str, typer.Option("--to", metavar="jsonl|csv", help="In which form.")] = "jsonl",
    by: By = "",
    taken: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Take in a JSON Lines file.")
    ] = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Print the answers that stand, or take some in.

    Pictures are named by the hash of their content, so the file fits any folder that holds
    them. Of a file with bad lines (broken, contradicting, about unknown pictures) the good ones
    are taken in and the bad ones listed; with --strict nothing is.

    \b
    Example:
        likewise answers photos.likewise --by season > season.jsonl
        likewise answers photos.likewise --by season --import anna.jsonl
    """
    if to not in FORMS:
        raise UnknownNameError("form of answers", to, FORMS)
    from likewise.session.session import Session

    if taken is not None:
        _take_in(session, taken, by, strict, as_json)
        return
    with Session.open(session, write=False) as opened:
        lines = _lines(opened, by)
    if as_json:
        print_json({"n_answers": len(lines), "answers": lines})
    elif to == "csv":
        write_table(
            sys.stdout, _COLUMNS, ([_cell(line.get(c)) for c in _COLUMNS] for line in lines)
        )
    else:
        for line in lines:
            print_json(line)


def _lines(session: "Session", by: str) -> list[dict[str, Any]]:
    from likewise.session.import_answers import answer_lines

    return [json.loads(line) for line in answer_lines(session, by)]


def _cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else value


def _take_in(path: Path, file: Path, by: str, strict: bool, as_json: bool) -> None:
    from likewise.session.import_answers import import_answers

    with open_to_write(path) as session:
        imported = import_answers(session, file, into=by, strict=strict)
    report_import(imported)
    if imported.problems and not imported.n_imported + imported.n_duplicates:
        raise AnswersFileError(
            f"No line of {file} could be taken in, so nothing was; correct the lines above, or "
            "check that the file is about the pictures of this session."
        )
    if as_json:
        print_json(import_row(imported))
    else:
        say(
            f"{count_noun(imported.n_imported, 'answer')} imported, {imported.n_duplicates:,} "
            f"already known, {count_noun(len(imported.problems), 'line')} left out"
        )


def report_import(imported: "Imported") -> None:
    """List on stderr the lines of an answers file that were left out."""
    note_list("Lines left out:", imported.problems)


def import_row(imported: "Imported") -> dict[str, Any]:
    """Return what became of an answers file, for JSON."""
    return {
        "n_imported": imported.n_imported,
        "n_doubled": imported.n_duplicates,
        "problems": [{"line": one.line, "reason": one.reason} for one in imported.problems],
    }
