"""`likewise repair`: rebuild the damaged database of a session."""

from likewise.cli.console import print_json, print_line, print_note
from likewise.cli.options import AsJson, SessionPath


def repair(session: SessionPath, as_json: AsJson = False) -> None:
    """Rebuild the database of a session if it is damaged.

    Every answer is stored twice: in the database session.sqlite3 and in the journal
    answers.jsonl. A damaged or missing database is rebuilt from the journal; the damaged one is
    kept under another name. A database that is not damaged is not changed.

    \b
    Example:
        likewise repair photos.likewise
    """
    from likewise.session.repair import repair as repair_session

    done = repair_session(session)
    if done.invalid:
        lines = ", ".join(map(str, done.invalid[:10])) + ", …" * (len(done.invalid) > 10)
        print_note(f"Lines of the journal left out, because they are not valid: {lines}")
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
