"""Options that several commands share, each worded once."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from likewise.errors import InvalidParameterError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of pictures.")]
SessionPath = Annotated[Path, typer.Argument(metavar="SESSION", help="A NAME.likewise folder.")]
Clusters = Annotated[int, typer.Option("-k", "--clusters", min=2, help="How many groups.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="The criterion, in your words.")]
SessionPlace = Annotated[
    Path | None, typer.Option("--session", metavar="PATH", help="Else FOLDER.likewise.")
]
Method = Annotated[str, typer.Option("--method", metavar="NAME", help="Which method.")]
Preset = Annotated[
    str | None, typer.Option("--preset", metavar="paper|small|…", help="A method's own settings.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any parameter of the method; repeatable."),
]
EncoderName = Annotated[
    str | None, typer.Option("--encoder", metavar="NAME", help="How pictures become vectors.")
]
FromScratch = Annotated[
    bool, typer.Option("--from-scratch", help="Train a network on the pictures themselves.")
]
Seed = Annotated[int, typer.Option("--seed", help="Same seed and data: same result.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else there.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse an answers file with a bad line as a whole.")
]

# What a benchmark runs on, and how: `bench run` and `bench plot`.
Dataset = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="By name.")]
Data = Annotated[str | None, typer.Option("--data", metavar="DIR", help="Where it lies.")]
Images = Annotated[str | None, typer.Option("--images", metavar="DIR", help="Or a folder,")]
Labels = Annotated[str | None, typer.Option("--labels", metavar="CSV", help="and its labels.")]
Orientation = Annotated[
    str | None, typer.Option("--orientation", metavar="NAME", help="By which criterion.")
]
Questions = Annotated[int, typer.Option("--questions", min=0, help="Answers allowed.")]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy", metavar="NAME", help="How questions are chosen; likewise takes only random."
    ),
]
Split = Annotated[
    str, typer.Option("--split", metavar="all|train|test", help="Of the official split.")
]
NImages = Annotated[int | None, typer.Option("--n-images", min=1, help="Learn from only so many.")]


def as_settings(given: Sequence[str] | None) -> dict[str, str]:
    """Return ``["a=1", "b=x"]`` as a mapping; the last of two equal keys holds."""
    pairs = [(text, *text.partition("=")) for text in given or ()]
    for text, key, equals, _ in pairs:
        if not equals or not key:
            raise InvalidParameterError(
                f"--set {text!r} is no KEY=VALUE; write --set batch_size=64."
            )
    return {key: value for _, key, _, value in pairs}
