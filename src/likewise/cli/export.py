"""`likewise export`: write the groups of a session as a file or as folders of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import count_noun, print_json, print_line, print_note, print_note_list
from likewise.cli.options import AsJson, By, Raw, SessionPath
from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.plugins import EXPORTERS, plugin_names

if TYPE_CHECKING:
    from collections.abc import Collection

    from likewise.session.export.formats import Exported
    from likewise.session.session import Session

FORMATS = (
    "csv",
    "parquet",
    "folders",
    "html",
    "xmp",
    "labelstudio",
    "fiftyone",
    "coco",
    "cvat",
    "answers",
)
_WITH_UNSURE = ("csv", "folders", "xmp")
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
        help="csv, folders, xmp: images without an answer and with a confidence below P (0 to 1) "
        "go to the group “unsure”.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="Output file or folder; by default named after --by."),
]
WriteTags = Annotated[
    bool,
    typer.Option("--write-tags", help="folders: write the group into the copies as a keyword."),
]
ChosenGroups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="NAME", help="Only this group; can be repeated."),
]


def export(
    session: SessionPath,
    to: Format = "csv",
    by: By = "",
    how: How = "copy",
    out: Out = None,
    unsure_below: UnsureBelow = 0.0,
    write_tags: WriteTags = False,
    group: ChosenGroups = None,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Write the groups to a file, or sort the images into folders.

    html is a page to view or send; xmp writes a file NAME.xmp with the group as a keyword next to
    each image (or below -o), for digiKam, Lightroom and others; labelstudio, fiftyone, coco and
    cvat are for import into these programs; answers are your answers as JSON Lines. The groups
    satisfy every active answer. The original images are never moved or changed.

    \b
    Example:
        likewise export photos.likewise --by season --to csv -o season.csv
        likewise export photos.likewise --by season --to folders -o sorted/ --how symlink
        likewise export photos.likewise --by season --to folders --unsure-below 0.6
        likewise export photos.likewise --by season --to folders --write-tags
        likewise export photos.likewise --by season --to html -o season.html --group winter
        likewise export photos.likewise --by season --to xmp
    """
    _check_options(to, how, unsure_below, group or (), write_tags=write_tags)
    from likewise.cli.console import ProgressBars
    from likewise.images.collection import displayed_name
    from likewise.session.session import Session

    with Session.open(session, write=False) as opened, ProgressBars() as bars:
        path = out or (opened.root if to == "xmp" else None) or _default_path(opened, by, to)
        options: dict[str, Any] = {"unsure_below": unsure_below, "groups": group or ()}
        if to == "csv":
            options["raw"] = raw
        elif to == "folders":
            options |= {"how": how, "tags": write_tags, "progress": bars.step("writing folders")}
        elif to == "xmp":
            options["progress"] = bars.step("writing keywords")
        exported = _write(opened, out if to == "xmp" else path, by, to, options)
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


def _write(
    session: "Session", path: Path | None, by: str, to: str, options: "dict[str, Any]"
) -> "Exported":
    """Write the groups in one format; without a path, keywords are written next to the images."""
    from likewise.session.export.folders import export_folders
    from likewise.session.export.formats import export_csv
    from likewise.session.export.xmp import export_xmp

    if to == "xmp":
        return export_xmp(session, path, by, **options)
    assert path is not None  # only keywords are written next to the images
    if to == "csv":
        return export_csv(session, path, by, **options)
    if to == "folders":
        return export_folders(session, path, by, **options)
    return _export_file(session, path, by, to, options["groups"])


def _check_options(
    to: str, how: str, unsure_below: float, group: "Collection[str]", *, write_tags: bool
) -> None:
    """Check the options before anything is read or written."""
    if to not in FORMATS and to not in plugin_names(EXPORTERS):
        raise UnknownNameError("format of export", to, [*FORMATS, *plugin_names(EXPORTERS)])
    if unsure_below and to not in _WITH_UNSURE:
        raise InvalidParameterError(
            f"--unsure-below needs --to {', '.join(_WITH_UNSURE[:-1])} or {_WITH_UNSURE[-1]}, got "
            f"--to {to}; leave one of them out."
        )
    if group and to == "answers":
        raise InvalidParameterError(
            "--group chooses images, but --to answers writes your answers; leave one of them out."
        )
    if write_tags and (to, how) != ("folders", "copy"):
        raise InvalidParameterError(
            "--write-tags writes keywords into copies, so it needs --to folders --how copy, got "
            f"--to {to} --how {how}; without copies, use --to xmp."
        )


def _default_path(session: "Session", by: str, to: str) -> Path:
    from likewise.session.export.folders import safe_name
    from likewise.session.export.formats import find_format

    name = session.criterion(by).name
    is_file = to not in ("folders", "xmp")
    return Path(safe_name(f"{name}.{find_format(to).extension}" if is_file else name))


def _export_file(
    session: "Session", out: Path, by: str, to: str, groups: "Collection[str]"
) -> "Exported":
    from likewise.cli.console import check_new_path, replace_file
    from likewise.session.assignments import assignments
    from likewise.session.export.formats import Exported, not_present
    from likewise.session.export.formats import export as content_of
    from likewise.workspace.thumbnails import Thumbnails

    check_new_path(out)
    name = session.criterion(by).name
    if to == "labelstudio":
        config = out.with_suffix(".xml")
        check_new_path(config)
        content = content_of(session, Thumbnails(session), name, f"{to}-config", groups)
        replace_file(config, content)
        print_note(f"The labeling configuration of the project is in {config}")
    replace_file(out, content_of(session, Thumbnails(session), name, to, groups))
    if to == "answers":
        return Exported(session.graph(name).n_answers, ())
    n_written = int(session.images.present.sum())
    return Exported(
        len(assignments(session, name, groups)) if groups else n_written, not_present(session)
    )
