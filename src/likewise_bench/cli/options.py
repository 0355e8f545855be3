"""Options of `bench run` and `bench plot`."""

from typing import Annotated

import typer

Dataset = Annotated[str | None, typer.Option("--dataset", metavar="NAME", help="Data set name.")]
Data = Annotated[str | None, typer.Option("--data", metavar="DIR", help="Data set directory.")]
Images = Annotated[
    str | None,
    typer.Option("--images", metavar="DIR", help="Image folder (instead of --dataset)."),
]
Labels = Annotated[
    str | None, typer.Option("--labels", metavar="CSV", help="True labels for --images.")
]
Criterion = Annotated[
    str | None,
    typer.Option("--by", "--orientation", metavar="NAME", help="Criterion to cluster by."),
]
Questions = Annotated[int, typer.Option("--questions", min=0, help="Number of answers allowed.")]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy", metavar="NAME", help="Query strategy; likewise accepts only random."
    ),
]
Split = Annotated[
    str, typer.Option("--split", metavar="all|train|test", help="Part of the official split.")
]
NImages = Annotated[int | None, typer.Option("--n-images", min=1, help="Use only N images.")]
