"""`likewise fit`: train a model on a folder without asking questions."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_parent_folder, count_noun, print_json, print_line
from likewise.cli.options import (
    AsJson,
    By,
    Clusters,
    EncoderName,
    FromScratch,
    ImageSource,
    Method,
    Offline,
    Preset,
    Seed,
    SessionPlace,
    Settings,
    Strict,
    Words,
    as_settings,
)
from likewise.cli.sessions import check_image_folder, check_words, local_images, name_groups
from likewise.errors import InvalidParameterError
from likewise.estimators.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from likewise.cli.fit_session import FitSession, Trained


ModelFolder = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="MODEL", help="Also save the model here.")
]
Answers = Annotated[
    Path | None, typer.Option("--answers", metavar="FILE", help="Answers as JSON Lines.")
]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="DIR", help="Save checkpoints here and resume."),
]


def fit(
    source: ImageSource,
    k: Clusters,
    method: Method = DEFAULT_METHOD,
    out: ModelFolder = None,
    by: By = "clusters",
    answers: Answers = None,
    strict: Strict = False,
    session: SessionPlace = None,
    encoder: EncoderName = None,
    words: Words = None,
    offline: Offline = False,
    trains_network: FromScratch = False,
    preset: Preset = None,
    settings: Settings = None,
    checkpoint: Checkpoint = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Group a folder of images without asking questions.

    The model is trained with the answers of the session and of --answers; without any, it
    clusters the images. Model, groups and answers are saved in the session FOLDER.likewise, and
    `likewise export` writes them as tables or folders. Unreadable files are listed and skipped.

    \b
    Example:
        likewise fit photos/ -k 4 --by season
        likewise fit photos/ -k 2 --method cc --answers season.jsonl -o model
        likewise fit photos/ -k 10 --method cc --from-scratch --set epochs_per_round=100
    """
    from likewise.cli.console import ProgressBars
    from likewise.cli.fit_session import FitSession, train
    from likewise.embedding.registry import DEFAULT_ENCODER as BUNDLED
    from likewise.embedding.registry import check_encoder
    from likewise.estimators.registry import from_scratch, make_method, with_encoder

    begin = time.perf_counter()
    folder = local_images(source)
    check_image_folder(folder, "fit")
    if out is not None:
        check_parent_folder(out)
    if trains_network:
        _check_no_encoder(encoder)
    check_encoder(encoder or BUNDLED)
    check_words(words, encoder or BUNDLED)
    given = as_settings(settings) | ({} if words is None else {"words": words})
    model = make_method(method, k, preset=preset, settings=given, seed=seed)
    model = from_scratch(model) if trains_network else with_encoder(model, encoder or BUNDLED)
    with ProgressBars() as bars, FitSession(folder, session, by, k, bars) as fit_session:
        name_groups(fit_session.session, fit_session.by, words)
        imported = None if answers is None else fit_session.import_answers(answers, strict=strict)
        trained = train(fit_session, model, bars, checkpoint)
        fit_session.save(trained, out)
        row = _as_json(fit_session, trained, method, time.perf_counter() - begin)
    if as_json:
        from likewise.cli.answers import import_as_json

        result = None if imported is None else import_as_json(imported)
        print_json({**row, "model": str(out) if out else None, "answers": result})
    else:
        _print_summary(row, out)


def _check_no_encoder(encoder: str | None) -> None:
    """Raise if --encoder is given with --from-scratch."""
    if encoder is not None:
        raise InvalidParameterError(
            f"--from-scratch trains a network on the images, so --encoder {encoder} would not be "
            "used; leave one of them out."
        )


def _as_json(
    fit_session: "FitSession", trained: "Trained", method: str, seconds: float
) -> dict[str, Any]:
    from likewise.cli.sessions import skipped_as_json

    skipped = [*fit_session.collection.skipped, *trained.skipped]
    return {
        "folder": str(fit_session.collection.folder),
        "method": method,
        "n_images": len(trained.hashes),
        "skipped": skipped_as_json(skipped),
        "n_clusters": trained.model.n_clusters,
        "sizes": fit_session.group_sizes(),
        "n_answers": trained.n_answers,
        "violations": trained.model.violations_,
        "session": str(fit_session.session.path),
        "criterion": fit_session.by,
        "seconds": round(seconds, 3),
    }


def _print_summary(row: dict[str, Any], out: Path | None) -> None:
    sizes = ", ".join(f"{size:,}" for size in row["sizes"])
    print_line(
        f"{count_noun(row['n_images'], 'image')} in groups of {sizes} ({row['seconds']:.0f} s)"
    )
    if row["n_answers"]:
        print_line(
            f"all of {count_noun(row['n_answers'], 'answer')} satisfied; the model alone would "
            f"have violated {row['violations']:,}"
        )
    if row["skipped"]:
        print_line(f"{count_noun(len(row['skipped']), 'file')} skipped")
    if out is not None:
        print_line(f"model:   {out}")
    print_line(f"session: {row['session']}  (criterion {row['criterion']!r})")
