"""`likewise predict`: predict the groups of new images with a model or a session."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from likewise.cli.console import (
    check_new_path,
    count_noun,
    print_json,
    print_line,
    print_note,
)
from likewise.cli.options import AsJson, By, EncoderName, Folder, Raw
from likewise.cli.sessions import check_image_folder
from likewise.errors import ModelFileError

if TYPE_CHECKING:
    from likewise.cli.console import ProgressBars
    from likewise.estimators.base import InteractiveClusterer
    from likewise.images.files import FolderCollection
    from likewise.session.session import Session

_COLUMNS = ("path", "cluster", "name", "confidence")
Row = tuple[str, int, str, float]


class _Trained(NamedTuple):
    """A trained model and the names of its clusters."""

    model: "InteractiveClusterer"
    names: dict[int, str]


def predict(
    model: Annotated[
        Path, typer.Argument(metavar="SESSION|MODEL", help="Session folder, or a saved model.")
    ],
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Output CSV file; by default stdout.")
    ] = None,
    by: By = "",
    encoder: EncoderName = None,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Predict the groups of new images.

    The prediction for an image does not depend on the other images. For a session that was
    answered on the page or with `likewise ask`, a model is trained on its answers first, which
    takes seconds; give the --encoder that the session was started with.

    \b
    Example:
        likewise predict photos.likewise new_photos/ --by season -o new.csv
        likewise predict model/ new_photos/ > new.csv
    """
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import read_images, skipped_as_json
    from likewise.session.export.tables import write_table

    check_new_path(out)
    check_image_folder(folder, f"predict {shlex.quote(str(model))}", takes_session=False)
    _check(model, by)
    with ProgressBars() as bars:
        collection = read_images(folder, bars)  # before the training: the folder may not exist
        trained = _load(model, by, encoder, bars)
        rows, skipped = _predict(trained, collection, bars)
    if out is not None:
        from likewise.session.atomic import write_new

        write_new(out, lambda stream: write_table(stream, _COLUMNS, _cells(rows), raw=raw))
    if as_json:
        found = {} if out else {"images": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]}
        skipped_rows = skipped_as_json([*collection.skipped, *skipped])
        written = str(out) if out else None
        print_json({"n_images": len(rows), "out": written, **found, "skipped": skipped_rows})
    elif out is not None:
        print_line(f"{count_noun(len(rows), 'prediction')} written to {out}")
    else:
        write_table(sys.stdout, _COLUMNS, _cells(rows), raw=raw)


def _check(path: Path, by: str) -> None:
    """Check before any work that the path can predict; print a note if --by is not used."""
    from likewise.estimators.persistence import check_model
    from likewise.session.database import DATABASE
    from likewise.session.session import Session

    if (path / DATABASE).exists():
        with Session.open(path, write=False) as session:
            if not _has_model(session, by):
                _check_answers(session, by)
        return
    check_model(path)
    if by:
        print_note(
            f"Note: --by {by!r} is ignored: {path} is a model, and a model has one criterion."
        )


def _has_model(session: "Session", by: str) -> bool:
    """Return whether the last training saved a model that still exists."""
    from likewise.session.results import load_results

    path, last = model_path(session.model_folder(by)), load_results(session, by)
    return last is not None and last.has_model and path.exists()


def _check_answers(session: "Session", by: str) -> None:
    name = session.criterion(by).name
    if not session.graph(name).answers:
        raise ModelFileError(
            f"{session.path} has no answers for the criterion {name!r}; answer questions with "
            "`likewise start`, or train a model with `likewise fit`."
        )


def _load(path: Path, by: str, encoder: str | None, bars: "ProgressBars") -> _Trained:
    from likewise.estimators.registry import load_method
    from likewise.session.database import DATABASE

    if not (path / DATABASE).exists():
        named = {} if encoder is None else {"encoder": encoder}
        return _Trained(load_method(path, **named), {})
    from likewise.session.assignments import assignments
    from likewise.session.session import Session

    with Session.open(path, write=False) as session:
        if not _has_model(session, by):
            return _train(session, by, encoder or "bundled", bars)
        names = {row.cluster: row.name for row in assignments(session, by) if row.cluster >= 0}
        return _Trained(load_method(model_path(session.model_folder(by))), names)


def _train(session: "Session", by: str, encoder: str, bars: "ProgressBars") -> _Trained:
    """Return a model trained on the answers of a session, as the page does.

    It is not saved: the session may be in use, or on a read-only disk.
    """
    from likewise.workspace.training_job import SessionVectors, TrainingJob
    from likewise.workspace.worker_process import Message

    _check_answers(session, by)
    criterion = session.criterion(by)
    update = bars.step("embedding")

    def on_event(message: Message) -> None:
        if message["event"] == "embedding":
            update(message["done"], message["total"])

    job = TrainingJob(session, criterion, SessionVectors.load(session, encoder, on_event), on_event)
    keys, groups = job.fit_only(), session.groups(criterion.name)
    job.model.encoder = encoder
    return _Trained(job.model, {cluster: groups.name(key) for cluster, key in enumerate(keys)})


def model_path(folder: Path) -> Path:
    """Return the path of the model in the folder of a criterion."""
    return folder / "model"


def _predict(
    trained: _Trained, collection: "FolderCollection", bars: "ProgressBars"
) -> tuple[list[Row], list[Any]]:
    from likewise.cli.sessions import embed_images, embedded_positions, embedding_cache

    parameters = trained.model.get_params()
    if parameters.get("backbone") is not None:
        probabilities = trained.model.predict_proba(collection)
        positions, skipped = list(range(len(collection))), []
    else:
        embeddings = embed_images(collection, parameters["encoder"], embedding_cache(), bars)
        probabilities = trained.model.predict_proba(embeddings)
        positions = embedded_positions(embeddings, collection)
        skipped = list(embeddings.skipped)
    rows = []
    for i, row in zip(positions, probabilities, strict=True):
        cluster = int(row.argmax())
        name = trained.names.get(cluster, "")
        rows.append((collection.name(i), cluster, name, float(row[cluster])))
    return rows, skipped


def _cells(rows: list[Row]) -> list[tuple[object, ...]]:
    return [(path, cluster, name, f"{p:.4f}") for path, cluster, name, p in rows]
