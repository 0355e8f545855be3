"""What the last training found for every image; written by the trainer, read by all.

The file can always be made again from the answers, so it lives beside the model
and not in the database, whose one writer is another process.
"""

import os
import warnings
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.honour import honour
from likewise.constraints.relation import Indexes
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.session.anchors import anchored
from likewise.session.atomic import write_whole
from likewise.session.session import Session

FILE = "results.npz"
Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Results:
    """The latest assignments of one orientation, in the order of the session's images.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        The model's own belief; a row of zeros where it has not seen the image.
    labels : array of shape (n,)
        The cluster of each image with all answers of that moment honoured; -1
        where the model has not seen the image.
    moved : array of shape (n,)
        Whether the training before had put the image elsewhere.
    keys : tuple of str
        The key of the group each cluster stands for; empty if nobody said.
    n_answers : int
        How many answers the model had been told.
    has_model : bool
        Whether the model that found this is kept beside it.
    """

    probabilities: npt.NDArray[np.float32]
    labels: Indexes
    moved: npt.NDArray[np.bool_]
    keys: tuple[str, ...] = ()
    n_answers: int = 0
    has_model: bool = False

    @property
    def confidence(self) -> npt.NDArray[np.float32]:
        """Return the probability of each image's own cluster, (n,)."""
        return confidence(self.probabilities, self.labels)


def confidence(probabilities: npt.NDArray[np.float32], labels: Indexes) -> npt.NDArray[np.float32]:
    """Return the probability of each label, 0 where there is none (-1)."""
    own = probabilities[np.arange(len(labels)), np.maximum(labels, 0)]
    return np.where(labels >= 0, own, 0).astype(np.float32)


def save_results(
    session: Session,
    orientation: str,
    probabilities: npt.ArrayLike,
    *,
    keys: tuple[str, ...] = (),
    n_answers: int = 0,
    has_model: bool = False,
) -> Results:
    """Keep what a training found, in the place of what the one before did.

    Parameters
    ----------
    session : Session
        Open for reading is enough.
    orientation : str
    probabilities : array-like of shape (n_images, k)
        Columns keep their meaning from training to training.
    keys : tuple of str, optional
        The key of the group of each column.
    n_answers : int
        How many answers the model was told.
    has_model : bool
        Whether the model itself is kept beside what it found.

    Returns
    -------
    results : Results
        With the answers that stand honoured and moved images marked.
    """
    given = _checked(probabilities, len(session.images), keys)
    with session.lock:
        before, first = load_results(session, orientation), session.images.first
        given = given[first]  # copies are one image, whatever a model makes of their places
        held = anchored(session, orientation, given, keys)
        labels = honour(held, session.graph(orientation)).labels[first]
    moved = np.zeros(len(labels), dtype=np.bool_)
    if before is not None:
        moved = (before.labels >= 0) & (before.labels != labels)
    results = Results(given, labels, moved, keys, n_answers, has_model)
    folder = session.model_folder(orientation)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / FILE, lambda descriptor: _write(descriptor, session, results))
    return results


def load_results(session: Session, orientation: str) -> Results | None:
    """Return the latest results, None before the first training.

    Images that were added since have the label -1 and a row of zeros. A file
    that is damaged counts as none, with a warning: training makes it again.
    """
    path = session.model_folder(orientation) / FILE
    if not path.exists():
        return None
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return _placed(session, file)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        warnings.warn(
            LikewiseWarning(f"{path} is damaged ({error}) and was passed over; train again."),
            stacklevel=2,
        )
        return None


def _checked(
    probabilities: npt.ArrayLike, n_images: int, keys: tuple[str, ...]
) -> npt.NDArray[np.float32]:
    array = np.asarray(probabilities, dtype=np.float32)
    if array.ndim != 2 or len(array) != n_images or not array.shape[1]:
        raise InvalidParameterError(
            f"probabilities of shape {array.shape} do not fit the {n_images} images of the "
            f"session; give one row an image, of shape ({n_images}, k)."
        )
    if not np.isfinite(array).all():
        raise InvalidParameterError("probabilities hold NaN or infinite values; train again.")
    if keys and len(keys) != array.shape[1]:
        raise InvalidParameterError(
            f"{len(keys)} keys do not fit {array.shape[1]} clusters; give one key a column."
        )
    return array


def _write(descriptor: int, session: Session, results: Results) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        np.savez(
            stream,
            hashes=np.array(session.images.hashes, dtype=np.bytes_),
            digest=np.array(session.images.digest),
            probabilities=results.probabilities,
            labels=results.labels,
            moved=results.moved,
            keys=np.array(results.keys, dtype=np.str_),
            n_answers=np.array(results.n_answers),
            has_model=np.array(results.has_model),
        )


def _placed(session: Session, file: Any) -> Results:
    """Put the rows of a file where the session has their images now."""
    keys, n_answers = tuple(file["keys"].tolist()), int(file["n_answers"])
    probabilities, labels, moved = file["probabilities"], file["labels"], file["moved"]
    images = session.images
    if "digest" not in file or str(file["digest"]) != images.digest:
        row_of = {h: row for row, h in enumerate(file["hashes"].astype(np.str_).tolist())}
        rows = np.array([row_of.get(h, -1) for h in images.hashes], dtype=np.intp)
        is_known = rows >= 0
        probabilities = np.where(is_known[:, None], probabilities[rows], 0).astype(np.float32)
        labels, moved = np.where(is_known, labels[rows], -1), np.where(is_known, moved[rows], False)
    has_model = bool(file["has_model"]) if "has_model" in file else not keys
    return Results(probabilities, labels.astype(np.intp), moved, keys, n_answers, has_model)
