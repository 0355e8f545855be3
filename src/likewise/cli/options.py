"""Options shared by several commands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from likewise.errors import InvalidParameterError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of images.")]
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
FromScratch = Annotated[bool, typer.Option("--from-scratch", help="Train a network on the images.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else there.")
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
