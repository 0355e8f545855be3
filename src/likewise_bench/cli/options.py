"""Options of the `likewise bench` commands."""

from pathlib import Path
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
OtherCriterion = Annotated[
    str | None, typer.Option("--other", metavar="NAME", help="Second criterion (grids).")
]
Questions = Annotated[int, typer.Option("--questions", min=0, help="Number of answers allowed.")]
PersonSeconds = Annotated[
    float | None,
    typer.Option("--seconds", metavar="S", help="Simulated time of the annotator allowed."),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "-k", "--clusters", metavar="K|auto", help="Default: number of values of the criterion."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="Query strategy, for methods that ask about pairs. Method likewise: random.",
    ),
]
Kinds = Annotated[
    str | None,
    typer.Option("--kinds", metavar="pair,choice,grid,label", help="Kinds of questions allowed."),
]
Protocol = Annotated[str, typer.Option("--protocol", metavar="transductive|inductive")]
TestFraction = Annotated[
    float | None,
    typer.Option("--test-fraction", metavar="F", help="Fraction held out (inductive)."),
]
Split = Annotated[
    str, typer.Option("--split", metavar="all|train|test", help="Part of the official split.")
]
NImages = Annotated[int | None, typer.Option("--n-images", min=1, help="Use only N images.")]
NTest = Annotated[int | None, typer.Option("--n-test", min=1, help="Test on only N images.")]
Noise = Annotated[
    float, typer.Option("--noise", metavar="P", help="Probability of a wrong answer.")
]
Unsure = Annotated[
    float, typer.Option("--unsure", metavar="P", help="Probability of “can't tell”.")
]
RowFile = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE", help="Also write the row to FILE.")
]

Plot = Annotated[
    str, typer.Argument(metavar="KIND", help="answers, similarities, map, grids, questions, toy")
]
ImageFile = Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="PNG, SVG or PDF.")]
PlottedResults = Annotated[
    list[Path] | None, typer.Argument(metavar="[RESULTS.jsonl...]", help="For: answers.")
]
Snapshots = Annotated[
    str | None,
    typer.Option("--at", metavar="N,N,…", help="Numbers of answers or epochs to show (map)."),
]
Projection = Annotated[
    str, typer.Option("--projection", metavar="tsne|umap", help="Projection (map).")
]
NShown = Annotated[int | None, typer.Option("-n", min=1, help="Number of images shown.")]
Epochs = Annotated[int, typer.Option("--epochs", min=1, help="Number of epochs (similarities).")]

SweepFile = Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="Sweep file.")]
ResultsPath = Annotated[
    Path,
    typer.Option("-o", "--out", metavar="RESULTS.jsonl", help="Results file, one line per run."),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Number of processes; default: one per core."),
]
