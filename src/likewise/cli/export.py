"""`likewise export`: write the groups of a session as a file or as folders of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from likewise.cli.console import count_noun, print_json, print_line, print_note_list
from likewise.cli.options import AsJson, By, Raw, SessionPath
from likewise.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from likewise.session.export.tables import Exported
    from likewise.session.session import Session

FORMATS = ("csv", "parquet", "folders", "html", "labelstudio", "fiftyone", "answers")
Format = Annotated[str, typer.Option("--to", metavar="|".join(FORMATS), help="Output format.")]
How = Annotated[
    str,
    typer.Option("--how", metavar="copy|symlink|hardlink", help="How folders get the images."),
]
UnsureBelow = Annotated[
    float,
    typer.Option(
        "--unsure-below",
        metavar="P",
        help="csv, folders: images without an answer and with a confidence below P (0 to 1) "
        "go to the group “unsure”.",
    ),
]


def export(
    session: SessionPath,
    to: Format = "csv",
    by: By = "",
    how: How = "copy",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Output file or folder; by default named after --by."),
    ] = None,
    unsure_below: UnsureBelow = 0.0,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Write the groups to a file, or sort the images into folders.

    html is a page to view or send; labelstudio and fiftyone are for import into these programs;
    answers are your answers as JSON Lines. The groups satisfy every active answer. The original
    images are never moved.

    \b
    Example:
        likewise export photos.likewise --by season --to csv -o season.csv
        likewise export photos.likewise --by season --to folders -o sorted/ --how symlink
        likewise export photos.likewise --by season --to folders --unsure-below 0.6
        likewise export photos.likewise --by season --to html -o season.html
    """
    if to not in FORMATS:
        raise UnknownNameError("format of export", to, FORMATS)
    if unsure_below and to not in ("csv", "folders"):
        raise InvalidParameterError(
            f"--unsure-below needs --to csv or folders, got --to {to}; leave one of them out."
        )
    from likewise.cli.console import ProgressBars
    from likewise.images.collection import displayed_name
    from likewise.session.export.folders import export_folders
    from likewise.session.export.tables import export_csv
    from likewise.session.session import Session

    with Session.open(session, write=False) as opened:
        path = out or _default_path(opened, by, to)
        if to == "csv":
            exported = export_csv(opened, path, by, unsure_below=unsure_below, raw=raw)
        elif to == "folders":
            with ProgressBars() as bars:
                progress = bars.step("writing folders")
                exported = export_folders(
                    opened, path, by, how=how, unsure_below=unsure_below, progress=progress
                )
        else:
            exported = _export_file(opened, path, by, to)
    print_note_list(
        "Skipped:", [f"{displayed_name(name)} {reason}" for name, reason in exported.left_out]
    )
    if as_json:
        skipped = [
            {"name": displayed_name(name), "reason": reason} for name, reason in exported.left_out
        ]
        print_json({"out": str(path), "n_written": exported.n_written, "skipped": skipped})
    else:
        noun = "answer" if to == "answers" else "image"
        print_line(f"{count_noun(exported.n_written, noun)} written to {path}")


def _default_path(session: "Session", by: str, to: str) -> Path:
    from likewise.session.export.folders import safe_name
    from likewise.session.export.formats import FORMATS as FILES

    name = session.criterion(by).name
    return Path(safe_name(f"{name}.{FILES[to].extension}" if to in FILES else name))


def _export_file(session: "Session", out: Path, by: str, to: str) -> "Exported":
    from likewise.cli.console import check_new_path, replace_file
    from likewise.session.export.formats import export as content_of
    from likewise.session.export.formats import left_out
    from likewise.session.export.tables import Exported
    from likewise.workspace.thumbnails import Thumbnails

    check_new_path(out)
    name = session.criterion(by).name
    replace_file(out, content_of(session, Thumbnails(session), name, to))
    if to == "answers":
        return Exported(session.graph(name).n_answers, ())
    skipped = left_out(session, name, to)
    return Exported(int(session.images.present.sum()) - len(skipped), skipped)
