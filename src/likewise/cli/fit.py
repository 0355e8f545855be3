"""`likewise fit`: train on a folder without a person, and keep model, groups and answers."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_place, count_noun, print_json, say
from likewise.cli.options import (
    AsJson,
    By,
    Clusters,
    EncoderName,
    Folder,
    FromScratch,
    Method,
    Preset,
    Seed,
    SessionPlace,
    Settings,
    Strict,
    as_settings,
)
from likewise.cli.sessions import check_pictures
from likewise.errors import InvalidParameterError
from likewise.estimators.registry import DEFAULT

if TYPE_CHECKING:
    from likewise.cli.fit_session import FitSession, Trained


def fit(
    folder: Folder,
    k: Clusters,
    method: Method = DEFAULT,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="MODEL", help="Save the model here too.")
    ] = None,
    by: By = "clusters",
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="Answers, JSON Lines.")
    ] = None,
    strict: Strict = False,
    session: SessionPlace = None,
    encoder: EncoderName = None,
    from_scratch: FromScratch = False,
    preset: Preset = None,
    settings: Settings = None,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", metavar="DIR", help="Go on from here if stopped.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Sort a folder of pictures, without a person.

    Answers may have been collected before; without any it sorts as it can. Model, groups and
    answers are kept in the session FOLDER.likewise, from which `likewise export` writes tables
    and folders. Files that cannot be read are listed and left out.

    \b
    Example:
        likewise fit photos/ -k 4 --by season
        likewise fit photos/ -k 2 --method cc --answers season.jsonl -o model
        likewise fit photos/ -k 10 --method cc --from-scratch --set epochs_per_round=100
    """
    from likewise.cli.console import Bars
    from likewise.cli.fit_session import FitSession, train
    from likewise.encoders.registry import DEFAULT as BUNDLED
    from likewise.encoders.registry import check_encoder
    from likewise.estimators import registry

    begin = time.perf_counter()
    check_pictures(folder, "fit")
    if out is not None:
        check_place(out)
    if from_scratch and encoder is not None:
        raise InvalidParameterError(
            f"--from-scratch trains its own network, so --encoder {encoder} would not be used; "
            "choose one of the two."
        )
    check_encoder(encoder or BUNDLED)
    bare = registry.make_method(method, k, preset=preset, settings=as_settings(settings), seed=seed)
    model = (
        registry.from_scratch(bare)
        if from_scratch
        else registry.with_encoder(bare, encoder or BUNDLED)
    )
    with Bars() as bars, FitSession(folder, session, by, k, bars) as place:
        imported = None if answers is None else place.take_in(answers, strict=strict)
        trained = train(place, model, bars, checkpoint)
        place.keep(trained, out)
        row = _row(place, trained, method, time.perf_counter() - begin)
    if as_json:
        from likewise.cli.answers import import_row

        about = None if imported is None else import_row(imported)
        print_json({**row, "model": str(out) if out else None, "answers": about})
    else:
        _tell(row, out)


def _row(place: "FitSession", trained: "Trained", method: str, seconds: float) -> dict[str, Any]:
    from likewise.cli.sessions import as_rows

    skipped = [*place.collection.skipped, *trained.skipped]
    return {
        "folder": str(place.collection.folder),
        "method": method,
        "n_images": len(trained.hashes),
        "skipped": as_rows(skipped),
        "n_clusters": trained.model.n_clusters,
        "sizes": place.sizes(),
        "n_answers": trained.n_answers,
        "violations": trained.model.violations_,
        "session": str(place.session.path),
        "orientation": place.by,
        "seconds": round(seconds, 3),
    }


def _tell(row: dict[str, Any], out: Path | None) -> None:
    sizes = ", ".join(f"{size:,}" for size in row["sizes"])
    say(f"{count_noun(row['n_images'], 'picture')} in groups of {sizes} ({row['seconds']:.0f} s)")
    if row["n_answers"]:
        say(
            f"all of {count_noun(row['n_answers'], 'answer')} honoured; the model by itself would "
            f"have missed {row['violations']:,}"
        )
    if row["skipped"]:
        say(f"{count_noun(len(row['skipped']), 'file')} left out")
    if out is not None:
        say(f"model:   {out}")
    say(f"session: {row['session']}  (criterion {row['orientation']!r})")
