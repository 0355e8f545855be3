"""`likewise answers` and `likewise repair`: the answers of a session, and its database."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import count_noun, print_json, print_line, print_note, print_note_list
from likewise.cli.options import AsJson, By, Raw, SessionPath, Strict
from likewise.cli.sessions import open_to_write
from likewise.errors import AnswersFileError, UnknownNameError

if TYPE_CHECKING:
    from likewise.session.import_answers import Imported
    from likewise.session.session import Session


FORMATS = ("jsonl", "csv")
_COLUMNS = ("kind", "images", "answer", "group", "groups", "criterion", "who", "at", "seconds")


def answers(
    session: SessionPath,
    to: Annotated[str, typer.Option("--to", metavar="jsonl|csv", help="Output format.")] = "jsonl",
    by: By = "",
    file: Annotated[
        Path | None, typer.Option("--import", metavar="FILE", help="Import a JSON Lines file.")
    ] = None,
    strict: Strict = False,
    raw: Raw = False,
    as_json: AsJson = False,
    agree: Annotated[
        bool, typer.Option("--agreement", help="Print how far the people agree instead.")
    ] = False,
) -> None:
    """Print the active answers of a session, or import answers.

    Images are identified by their content hash, so the file can be used with any folder that
    contains them. Invalid lines of an imported file (not JSON, a conflict, unknown images) are
    listed and skipped; with --strict, one invalid line rejects the whole file.

    \b
    Example:
        likewise answers photos.likewise --by season > season.jsonl
        likewise answers photos.likewise --by season --import anna.jsonl
        likewise answers photos.likewise --by season --agreement
    """
    if to not in FORMATS:
        raise UnknownNameError("format of answers", to, FORMATS)
    from likewise.session.session import Session

    if file is not None:
        _import(session, file, by, strict, as_json)
        return
    if agree:
        _print_agreement(session, by, as_json=as_json)
        return
    with Session.open(session, write=False) as opened:
        lines = _lines(opened, by)
    if as_json:
        print_json({"n_answers": len(lines), "answers": lines})
    elif to == "csv":
        from likewise.session.export.formats import write_table

        rows = ([_cell(line.get(c)) for c in _COLUMNS] for line in lines)
        write_table(sys.stdout, _COLUMNS, rows, raw=raw)
    else:
        for line in lines:
            print_json(line)


def _print_agreement(path: Path, by: str, *, as_json: bool) -> None:
    """Print a line for each two people with a name."""
    from dataclasses import asdict

    from likewise.session.session import Session
    from likewise.workspace.team import agreement

    with Session.open(path, write=False) as session:
        found = agreement(session, session.criterion(by).name)
    if as_json:
        print_json({"agreement": [asdict(one) for one in found]})
        return
    for one in found:
        kappa = "" if one.kappa is None else f", kappa {one.kappa:.2f}"
        print_line(
            f"{one.first} and {one.second}: {one.n_equal:,} of {count_noun(one.n_pairs, 'pair')} "
            f"the same{kappa}"
        )
    if not found:
        print_line("Fewer than two people with a name have answered.")


def _lines(session: "Session", by: str) -> list[dict[str, Any]]:
    from likewise.session.import_answers import answer_lines

    return [json.loads(line) for line in answer_lines(session, by)]


def _cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else value


def _import(path: Path, file: Path, by: str, strict: bool, as_json: bool) -> None:
    from likewise.session.import_answers import import_answers

    with open_to_write(path) as session:
        imported = import_answers(session, file, into=by, strict=strict)
    print_import_problems(imported)
    if imported.problems and not imported.n_imported + imported.n_duplicates:
        raise AnswersFileError(
            f"No line of {file} could be imported; correct the lines above, or check that the "
            "file is about the images of this session."
        )
    if as_json:
        print_json(import_as_json(imported))
    else:
        print_line(
            f"{count_noun(imported.n_imported, 'answer')} imported, {imported.n_duplicates:,} "
            f"already known, {count_noun(len(imported.problems), 'line')} skipped"
        )


def print_import_problems(imported: "Imported") -> None:
    """List the invalid lines of an imported file on stderr."""
    print_note_list("Lines skipped:", imported.problems)


def import_as_json(imported: "Imported") -> dict[str, Any]:
    """Return the result of an import as JSON."""
    return {
        "n_imported": imported.n_imported,
        "n_duplicates": imported.n_duplicates,
        "problems": [{"line": one.line, "reason": one.reason} for one in imported.problems],
    }


def repair(session: SessionPath, as_json: AsJson = False) -> None:
    """Rebuild the database of a session if it is damaged.

    Every answer is stored twice: in the database session.sqlite3 and in the journal
    answers.jsonl. A damaged or missing database is rebuilt from the journal; the damaged one is
    kept under another name. A database that is not damaged is not changed.

    \b
    Example:
        likewise repair photos.likewise
    """
    from likewise.session.create import repair as repair_session

    done = repair_session(session)
    if done.invalid:
        lines = ", ".join(map(str, done.invalid[:10])) + ", …" * (len(done.invalid) > 10)
        print_note(f"Invalid lines of the journal were skipped: {lines}")
    if as_json:
        print_json(
            {
                "n_entries": done.n_entries,
                "rebuilt": done.is_changed,
                "invalid_lines": list(done.invalid),
                "kept": str(done.kept) if done.kept else None,
            }
        )
    elif not done.is_changed:
        print_line(f"{session} is not damaged, so it was not changed")
    else:
        kept = f"; the damaged database is kept as {done.kept.name}" if done.kept else ""
        entries = f"{done.n_entries:,} log entr{'y' if done.n_entries == 1 else 'ies'}"
        print_line(f"{entries} restored from the journal{kept}")
