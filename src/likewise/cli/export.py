"""`likewise export`: the groups of a session as a table or as folders of pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, note_list, print_json, say
from likewise.cli.options import AsJson, By, SessionPath
from likewise.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from likewise.session.export.tables import Exported
    from likewise.session.session import Session

FORMS = ("csv", "parquet", "folders", "html", "labelstudio", "fiftyone", "answers")


def export(
    session: SessionPath,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="csv|parquet|folders|html|labelstudio|fiftyone|answers",
            help="In which form.",
        ),
    ] = "csv",
    by: By = "",
    how: Annotated[
        str, typer.Option("--how", metavar="copy|symlink|hardlink", help="For folders.")
    ] = "copy",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The file or folder to make; else named as --by, here."),
    ] = None,
    unsure_below: Annotated[
        float,
        typer.Option(
            "--unsure-below",
            metavar="P",
            help="csv, folders: what is less sure and in no answer goes to “unsure”; 0 to 1.",
        ),
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Write the groups to a file, or sort pictures into folders.

    html is a page to look at or mail; labelstudio and fiftyone are for these programs; answers
    are your own, as JSON Lines. Every answer that stands is honoured; originals never move.

    \b
    Example:
        likewise export photos.likewise --by season --to csv -o season.csv
        likewise export photos.likewise --by season --to folders -o sorted/ --how symlink
        likewise export photos.likewise --by season --to folders --unsure-below 0.6
        likewise export photos.likewise --by season --to html -o season.html
    """
    if to not in FORMS:
        raise UnknownNameError("form of export", to, FORMS)
    if unsure_below and to not in ("csv", "folders"):
        raise InvalidParameterError(
            f"--unsure-below is for csv and folders, not for {to}; leave it out, or change --to."
        )
    from likewise.cli.console import Bars
    from likewise.session.export.folders import export_folders
    from likewise.session.export.tables import export_csv
    from likewise.session.session import Session

    with Session.open(session, write=False) as opened:
        place = out or _named(opened, by, to)
        if to == "csv":
            exported = export_csv(opened, place, by, unsure_below=unsure_below)
        elif to == "folders":
            with Bars() as bars:
                tell = bars.step("putting into folders")
                exported = export_folders(
                    opened, place, by, how=how, unsure_below=unsure_below, progress=tell
                )
        else:
            exported = _one_file(opened, place, by, to)
    note_list("Left out:", [f"{name} {reason}" for name, reason in exported.left_out])
    if as_json:
        left_out = [{"name": name, "reason": reason} for name, reason in exported.left_out]
        print_json({"out": str(place), "n_written": exported.n_written, "left_out": left_out})
    else:
        word = "answer" if to == "answers" else "picture"
        say(f"{count_noun(exported.n_written, word)} written to {place}")


def _named(session: "Session", by: str, to: str) -> Path:
    from likewise.session.export.folders import safe_name
    from likewise.session.export.formats import FORMATS as FILES

    name = session.criterion(by).name
    return Path(safe_name(f"{name}.{FILES[to].extension}" if to in FILES else name))


def _one_file(session: "Session", out: Path, by: str, to: str) -> "Exported":
    from likewise.cli.console import check_free, replace_file
    from likewise.session.export.formats import export as content_of
    from likewise.session.export.formats import left_out
    from likewise.session.export.tables import Exported
    from likewise.workspace.thumbnails import Thumbnails

    check_free(out)
    name = session.criterion(by).name
    replace_file(out, content_of(session, Thumbnails(session), name, to))
    if to == "answers":
        return Exported(session.graph(name).n_answers, ())
    without = left_out(session, name, to)
    return Exported(int(session.images.present.sum()) - len(without), without)
