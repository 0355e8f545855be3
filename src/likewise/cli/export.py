"""`likewise export`: the groups of a session as a table or as folders of pictures."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.notes import note_list
from likewise.cli.options import AsJson, By, SessionPath
from likewise.cli.output import print_json, say, some_words
from likewise.errors import UnknownNameError

FORMS = ("csv", "folders")


def export(
    session: SessionPath,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file or folder to make.")],
    to: Annotated[str, typer.Option("--to", metavar="csv|folders", help="In which form.")] = "csv",
    by: By = "",
    how: Annotated[
        str, typer.Option("--how", metavar="copy|symlink|hardlink", help="For folders.")
    ] = "copy",
    as_json: AsJson = False,
) -> None:
    """Write the groups to a table, or sort pictures into folders.

    Every answer that stands is honoured. The originals are never moved.

    \b
    Example:
        likewise export photos.likewise --by season --to csv -o season.csv
        likewise export photos.likewise --by season --to folders -o sorted/ --how symlink
    """
    if to not in FORMS:
        raise UnknownNameError("form of export", to, FORMS)
    from likewise.session.export import export_csv, export_folders
    from likewise.session.session import Session

    with Session.open(session, write=False) as opened:
        if to == "csv":
            exported = export_csv(opened, out, by)
        else:
            exported = export_folders(opened, out, by, how=how)
    note_list("Left out:", [f"{name} {reason}" for name, reason in exported.left_out])
    if as_json:
        left_out = [{"name": name, "reason": reason} for name, reason in exported.left_out]
        print_json({"out": str(out), "n_written": exported.n_written, "left_out": left_out})
    else:
        say(f"{some_words(exported.n_written, 'picture')} written to {out}")
