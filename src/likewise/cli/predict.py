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
from likewise.cli.options import AsJson, By, EncoderName, ImageSource, Offline, Raw
from likewise.cli.sessions import check_image_folder, local_images
from likewise.cli.shards import (
    Engine,
    GpusPerWorker,
    Workers,
    compute_shards,
    image_names,
    print_result,
)
from likewise.errors import InvalidParameterError, ModelFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from likewise.cli.console import ProgressBars
    from likewise.embedding.shards import Shard
    from likewise.embedding.vector_source import VectorSource
    from likewise.estimators.base import InteractiveClusterer
    from likewise.estimators.shard_prediction import PredictTask
    from likewise.images.collection import Skipped
    from likewise.images.encoded import FilesBelow
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
    source: ImageSource,
    out: Annotated[
        str | None,
        typer.Option(
            "-o", "--out", metavar="FILE|DIR", help="CSV file; with --engine a folder. Else stdout."
        ),
    ] = None,
    by: By = "",
    encoder: EncoderName = None,
    offline: Offline = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="local|ray",
            help="Write a folder of Parquet files, here or with many machines ($RAY_ADDRESS).",
        ),
    ] = None,
    workers: Workers = None,
    gpus_per_worker: GpusPerWorker = 0,
    raw: Raw = False,
    as_json: AsJson = False,
) -> None:
    """Predict the groups of new images, or of vectors.

    The prediction for an image does not depend on the other images. For a session that was
    answered on the page or with `likewise ask`, a model is trained on its answers first, which
    takes seconds; give the --encoder that the session was started with. A session of vectors
    predicts vectors: FOLDER is then their file or folder.

    With --engine, the result is a folder or address of Parquet files with name, content hash,
    cluster, group and confidence; the next run computes only what is not there.

    \b
    Example:
        likewise predict photos.likewise new_photos/ --by season -o new.csv
        likewise predict model/ new_photos/ > new.csv
        likewise predict vectors.likewise s3://bucket/vectors --engine ray -o s3://bucket/groups
    """
    from likewise.cli.sessions import skipped_as_json
    from likewise.session.export.formats import write_table

    if engine is not None:
        chosen = Engine(engine, workers, gpus_per_worker, (source, out or ""))
        _predict_to_shards(chosen, model, source, out, by, encoder, as_json=as_json)
        return
    path = None if out is None else Path(out)
    check_new_path(path)
    rows, skipped = _predict_to_rows(model, source, by, encoder)
    if path is not None:
        from likewise.session.atomic import write_new

        write_new(path, lambda stream: write_table(stream, _COLUMNS, _cells(rows), raw=raw))
    if as_json:
        found = {} if out else {"images": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]}
        skipped_rows = skipped_as_json(skipped)
        print_json({"n_images": len(rows), "out": out, **found, "skipped": skipped_rows})
    elif out is not None:
        print_line(f"{count_noun(len(rows), 'prediction')} written to {out}")
    else:
        write_table(sys.stdout, _COLUMNS, _cells(rows), raw=raw)


def _predict_to_rows(
    model: Path, source: str, by: str, encoder: str | None
) -> "tuple[list[Row], list[Skipped]]":
    """Return the predictions in the order of the images or vectors, and the skipped images."""
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import read_images
    from likewise.embedding.vector_source import VectorSource

    if VectorSource.is_one(source):
        _check(model, by)
        vectors = VectorSource(source)
        with ProgressBars() as bars:
            task = _task(_load(model, by, encoder, bars), vectors)
        return [row for one in vectors.files for row in _shard_rows(task([one]))], []
    folder = local_images(source)
    check_image_folder(folder, f"predict {shlex.quote(str(model))}", takes_session=False)
    _check(model, by)
    with ProgressBars() as bars:
        collection = read_images(folder, bars)  # before the training: the folder may not exist
        rows, skipped = _predict(_load(model, by, encoder, bars), collection, bars)
    return rows, [*collection.skipped, *skipped]


def _predict_to_shards(
    engine: Engine,
    model: Path,
    source: str,
    out: str | None,
    by: str,
    encoder: str | None,
    *,
    as_json: bool,
) -> None:
    """Write the predictions to a folder or address of Parquet files."""
    from likewise.cli.console import ProgressBars
    from likewise.embedding.shards import ShardFolder, check_parquet
    from likewise.embedding.vector_source import VectorSource

    if out is None:
        raise InvalidParameterError("--engine needs -o DIR: the folder of the Parquet files.")
    check_parquet(f"The folder {out}")
    _check(model, by)
    has_vectors = VectorSource.is_one(source)
    skipped: list[Skipped] = []
    if has_vectors:
        vectors = VectorSource(source)
        inputs = list(vectors.files)
    else:
        files, inputs, skipped = image_names(source)
    with ProgressBars() as bars:
        trained = _load(model, by, encoder, bars)
    task = _task(trained, vectors if has_vectors else files)
    result = compute_shards(
        engine, task, inputs, ShardFolder(out), "predicting", one_by_one=has_vectors
    )
    result["skipped"] = [*skipped, *result["skipped"]]
    print_result(result, "prediction", as_json=as_json)


def _task(trained: _Trained, source: "FilesBelow | VectorSource") -> "PredictTask":
    from likewise.estimators.shard_prediction import PackedModel, PredictTask

    return PredictTask(source, PackedModel.pack(trained.model, trained.names))


def _shard_rows(shard: "Shard") -> "Iterator[Row]":
    columns = (shard.columns[name] for name in ("name", "cluster", "group", "confidence"))
    for name, cluster, group, confidence in zip(*columns, strict=True):
        yield str(name), int(cluster), group, float(confidence)


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
