"""`likewise predict`: where new pictures belong, by a model or by a session's model."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from likewise.cli.console import check_free, count_noun, note, print_json, say, write_table
from likewise.cli.options import AsJson, By, EncoderName, Folder
from likewise.cli.sessions import check_pictures
from likewise.errors import ModelFileError

if TYPE_CHECKING:
    from likewise.cli.console import Bars
    from likewise.estimators.base import InteractiveClusterer
    from likewise.images.files import FolderCollection
    from likewise.session.session import Session

_COLUMNS = ("path", "cluster", "name", "confidence")
Row = tuple[str, int, str, float]


class _Trained(NamedTuple):
    """A model, and what its clusters are called."""

    model: "InteractiveClusterer"
    names: dict[int, str]


def predict(
    model: Annotated[Path, typer.Argument(metavar="SESSION|MODEL", help="What was trained.")],
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="A CSV file; stdout if left out.")
    ] = None,
    by: By = "",
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Say to which group new pictures belong.

    No picture depends on the others: alone it goes where it goes in company. A session that was
    answered on the page or with `likewise ask` learns from its answers first, which takes
    seconds; give the --encoder it was started with.

    \b
    Example:
        likewise predict photos.likewise new_photos/ --by season -o new.csv
        likewise predict model/ new_photos/ > new.csv
    """
    from likewise.cli.console import Bars
    from likewise.cli.sessions import as_rows, read

    check_free(out)
    check_pictures(folder, f"predict {shlex.quote(str(model))}", takes_session=False)
    _check(model, by)
    with Bars() as bars:
        collection = read(folder, bars)  # a folder that is none must not wait for the learning
        trained = _load(model, by, encoder or "bundled", bars)
        rows, skipped = _predict(trained, collection, bars)
    if out is not None:
        from likewise.session.atomic import write_new

        write_new(out, lambda stream: write_table(stream, _COLUMNS, _cells(rows)))
    if as_json:
        found = {} if out else {"images": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]}
        left_out = as_rows([*collection.skipped, *skipped])
        where = str(out) if out else None
        print_json({"n_images": len(rows), "out": where, **found, "skipped": left_out})
    elif out is not None:
        say(f"{count_noun(len(rows), 'picture')} sorted, see {out}")
    else:
        write_table(sys.stdout, _COLUMNS, _cells(rows))


def _check(path: Path, by: str) -> None:
    """Refuse before any work what cannot predict, and say what is not used."""
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
        note(
            f"Note: --by {by!r} is not used, for {path} is a model, which sorts in the one way it "
            "was trained for; a session knows several."
        )


def _has_model(session: "Session", by: str) -> bool:
    """Return whether the last training left a model, and it is there."""
    from likewise.session.results import load_results

    place, last = model_place(session.model_folder(by)), load_results(session, by)
    return last is not None and last.has_model and place.exists()


def _check_answers(session: "Session", by: str) -> None:
    name = session.criterion(by).name
    if not session.graph(name).answers:
        raise ModelFileError(
            f"{session.path} has no answers by {name!r} to learn from; answer some "
            "with `likewise start`, or train a model with `likewise fit`."
        )


def _load(path: Path, by: str, encoder: str, bars: "Bars") -> _Trained:
    from likewise.estimators.registry import load_method
    from likewise.session.database import DATABASE

    if not (path / DATABASE).exists():
        return _Trained(load_method(path), {})
    from likewise.session.assignments import assignments
    from likewise.session.session import Session

    with Session.open(path, write=False) as session:
        if not _has_model(session, by):
            return _taught(session, by, encoder, bars)
        names = {row.cluster: row.name for row in assignments(session, by) if row.cluster >= 0}
        return _Trained(load_method(model_place(session.model_folder(by))), names)


def _taught(session: "Session", by: str, encoder: str, bars: "Bars") -> _Trained:
    """Return a model that learned from the answers of a session, as the page's own does.

    Nothing is kept of it: the session may be at work, or on a disk that is read-only.
    """
    from likewise.desk.messages import Message
    from likewise.desk.pupil import Pupil, Vectors

    _check_answers(session, by)
    orientation = session.criterion(by)
    embedding = bars.step("embedding")

    def hear(message: Message) -> None:
        if message["event"] == "embedding":
            embedding(message["done"], message["total"])

    pupil = Pupil(session, orientation, Vectors.of(session, encoder, hear), hear)
    keys, groups = pupil.learn(), session.groups(orientation.name)
    pupil.model.encoder = encoder
    return _Trained(pupil.model, {cluster: groups.name(key) for cluster, key in enumerate(keys)})


def model_place(folder: Path) -> Path:
    """Return where in an orientation's folder its model is."""
    return folder / "model"


def _predict(
    trained: _Trained, collection: "FolderCollection", bars: "Bars"
) -> tuple[list[Row], list[Any]]:
    from likewise.cli.sessions import cache, kept_in, vectors

    parameters = trained.model.get_params()
    if parameters.get("backbone") is not None:
        probabilities = trained.model.predict_proba(collection)
        kept, skipped = list(range(len(collection))), []
    else:
        found = vectors(collection, parameters["encoder"], cache(), bars)
        probabilities = trained.model.predict_proba(found)
        kept, skipped = kept_in(found, collection), list(found.skipped)
    rows = []
    for i, chances in zip(kept, probabilities, strict=True):
        cluster = int(chances.argmax())
        name = trained.names.get(cluster, "")
        rows.append((collection.name(i), cluster, name, float(chances[cluster])))
    return rows, skipped


def _cells(rows: list[Row]) -> list[tuple[object, ...]]:
    return [(path, cluster, name, f"{sure:.4f}") for path, cluster, name, sure in rows]
