"""Command-line options that several commands share, such as --by, --seed and --json."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from likewise.errors import InvalidParameterError


def set_offline(value: bool) -> bool:
    """Turn downloads off, also for the worker process."""
    if value:
        os.environ["LIKEWISE_OFFLINE"] = "1"
    return value


Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of images.")]
ImageSource = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER",
        help="Folder of images; also a zip archive, a CSV or Parquet table with their paths, or an "
        "address such as s3://bucket/photos.",
    ),
]
SessionPath = Annotated[
    Path, typer.Argument(metavar="SESSION", help="Session folder NAME.likewise.")
]
Clusters = Annotated[int, typer.Option("-k", "--clusters", min=2, help="Number of groups.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Criterion, for example season.")]
SessionPlace = Annotated[
    Path | None,
    typer.Option("--session", metavar="PATH", help="Session folder; default FOLDER.likewise."),
]
Method = Annotated[str, typer.Option("--method", metavar="NAME", help="Method name.")]
Preset = Annotated[
    str | None, typer.Option("--preset", metavar="paper|small|…", help="Named set of parameters.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Method parameter; repeatable."),
]
EncoderName = Annotated[str | None, typer.Option("--encoder", metavar="NAME", help="Encoder name.")]
Words = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="A,B,…",
        help="Names of the groups, for an encoder that knows text (CLIP, SigLIP): images are "
        "grouped by them until answers say otherwise.",
    ),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        callback=set_offline,
        help="Download nothing; an encoder that is not on this machine is an error.",
    ),
]
FromScratch = Annotated[bool, typer.Option("--from-scratch", help="Train a network on the images.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
Raw = Annotated[
    bool,
    typer.Option("--raw", help="csv: no apostrophe before cells that begin with = + - or @."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Reject the whole file if any line is invalid.")
]


def as_settings(given: Sequence[str] | None) -> dict[str, str]:
    """Return ``["a=1", "b=x"]`` as a mapping; the last of two equal keys wins."""
    pairs = [(text, *text.partition("=")) for text in given or ()]
    for text, key, equals, _ in pairs:
        if not equals or not key:
            raise InvalidParameterError(
                f"--set must be KEY=VALUE, got {text!r}; for example --set batch_size=64."
            )
    return {key: value for _, key, _, value in pairs}
