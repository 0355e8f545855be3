"""Save and load the results of the last training: probabilities and labels of every image.

Probabilities are the model's own; labels satisfy the answers. The file can be recomputed
from the answers. It is stored with the model and not in the database, because the
worker process and group edits write it.
"""

import json
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.assignment import constrained_assignment
from likewise.constraints.question import Answer
from likewise.errors import InvalidParameterError, LikewiseWarning
from likewise.session.atomic import make_folder, write_atomic
from likewise.session.groups import Groups
from likewise.session.session import Session
from likewise.types import Floats, Indexes

FILE = "results.npz"
ARRAY_ERRORS = (  # of `np.load` for a damaged file
    *(OSError, ValueError, TypeError, KeyError, EOFError, MemoryError, NotImplementedError),
    *(RuntimeError, SyntaxError, tokenize.TokenError),
    *(struct.error, zipfile.BadZipFile, zlib.error),
)
Quality = Mapping[str, Mapping[str, Any]]
_ROUNDING = 1e-3  # by which a probability may exceed 1
_OTHER_GROUPS = 1e-6  # probability; outweighs three images predicted with 99 % elsewhere


@dataclass(frozen=True)
class Results:
    """The latest results of one criterion, in the order of the session's images.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        Predicted by the model; a row of zeros for an image it has not seen.
    labels : array of shape (n,)
        The cluster of each image, satisfying all answers of that time; -1 for an
        image the model has not seen.
    moved : array of shape (n,)
        Whether the image changed its cluster since the previous training run.
    keys : tuple of str
        The key of the group of each cluster; empty if unknown.
    n_answers : int
        Number of answers the model was trained with.
    has_model : bool
        Whether the model is saved in the same folder.
    constraints_version : str
        See `Session.constraints_version`, when the labels were computed; empty if unknown.
    quality : mapping of str to mapping
        ``accuracy`` and ``advice`` of the model, see `likewise.estimators.kernel`; or empty.
    """

    probabilities: Floats
    labels: Indexes
    moved: npt.NDArray[np.bool_]
    keys: tuple[str, ...] = ()
    n_answers: int = 0
    has_model: bool = False
    constraints_version: str = ""
    quality: Quality = field(default_factory=dict)

    @property
    def confidence(self) -> Floats:
        """Return the probability of each image's own cluster, (n,)."""
        return confidence(self.probabilities, self.labels)


def confidence(probabilities: Floats, labels: Indexes) -> Floats:
    """Return the probability of each label, 0 for the label -1."""
    own = probabilities[np.arange(len(labels)), np.maximum(labels, 0)]
    return np.where(labels >= 0, own, 0).astype(np.float32)


def save_results(
    session: Session,
    criterion: str,
    probabilities: npt.ArrayLike,
    *,
    keys: tuple[str, ...] = (),
    n_answers: int = 0,
    has_model: bool = False,
    quality: Quality | None = None,
) -> Results:
    """Save the results of a training run, replacing the previous ones.

    Parameters
    ----------
    session : Session
        May be open for reading only.
    criterion : str
    probabilities : array-like of shape (n_images, k)
        Columns must keep their meaning from one training run to the next.
    keys : tuple of str, optional
        The key of the group of each column.
    n_answers : int
        Number of answers the model was trained with.
    has_model : bool
        Whether the model is saved in the same folder.
    quality : mapping, optional
        See `Results`.

    Returns
    -------
    results : Results
        With labels that satisfy the active answers, and moved images marked.
    """
    given = _checked(probabilities, len(session.images), keys)
    with session.lock:
        before, first = load_results(session, criterion), session.images.first
        given = given[first]  # copies get the prediction of their first image
        pinned = _with_pins(session, criterion, given, keys)
        labels = constrained_assignment(pinned, session.graph(criterion)).labels[first]
        version = session.constraints_version(criterion)
    moved = np.zeros(len(labels), dtype=np.bool_)
    if before is not None:
        moved = (before.labels >= 0) & (before.labels != labels)
    results = Results(given, labels, moved, keys, n_answers, has_model, version, quality or {})
    folder = session.model_folder(criterion)
    make_folder(folder)
    write_atomic(folder / FILE, lambda descriptor: _write(descriptor, session, results))
    return results


def load_results(session: Session, criterion: str) -> Results | None:
    """Return the latest results, None before the first training run.

    Images that were added since have the label -1 and a row of zeros. A
    damaged file is ignored with a warning.
    """
    path = session.model_folder(criterion) / FILE
    if not path.exists():
        return None
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return _aligned(session, file)
    except (*ARRAY_ERRORS, RecursionError) as error:
        warnings.warn(
            LikewiseWarning(f"{path} is damaged ({error}) and was ignored; train again."),
            stacklevel=2,
        )
        return None


def placed_groups(answers: Mapping[int, Answer], groups: Groups) -> set[str]:
    """Return the keys of the groups in which answers place images."""
    keys = {key for answer in answers.values() for key in answer.placed.values()}
    return {groups.resolve(key) for key in keys if key in groups}


def pinned_columns(
    answers: Mapping[int, Answer], groups: Groups, keys: tuple[str, ...]
) -> dict[int, int]:
    """Return the images that answers assign to a group by its key, and its column in `keys`."""
    column_of = {groups.resolve(key): column for column, key in reversed(list(enumerate(keys)))}
    pinned = {}
    for answer in answers.values():
        for image, key in answer.placed.items():
            column = column_of.get(groups.resolve(key))
            if column is not None:
                pinned[image] = column
    return pinned


def pin(probabilities: Floats, pinned: dict[int, int]) -> Floats:
    """Return the probabilities with each image of `pinned` certain of its column."""
    if not pinned:
        return probabilities
    changed = probabilities.copy()
    changed[list(pinned)] = _OTHER_GROUPS
    changed[list(pinned), list(pinned.values())] = 1
    return changed


def _with_pins(
    session: Session, criterion: str, probabilities: Floats, keys: tuple[str, ...]
) -> Floats:
    """Pin the images that active answers assign to a group; must-links alone name no group."""
    graph = session.graph(criterion)
    return pin(probabilities, pinned_columns(graph.active_answers, session.groups(criterion), keys))


def _checked(probabilities: npt.ArrayLike, n_images: int, keys: tuple[str, ...]) -> Floats:
    array = np.asarray(probabilities, dtype=np.float32)
    if array.ndim != 2 or len(array) != n_images or not array.shape[1]:
        raise InvalidParameterError(
            f"probabilities must have shape ({n_images}, k), one row per image of the session, got "
            f"{array.shape}."
        )
    if not np.isfinite(array).all():
        raise InvalidParameterError("probabilities must be finite, got NaN or infinite values.")
    if keys and len(keys) != array.shape[1]:
        raise InvalidParameterError(
            f"keys must have one element per cluster ({array.shape[1]}), got {len(keys)}."
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
            constraints_version=np.array(results.constraints_version),
            quality=np.array(json.dumps(results.quality)),
        )


def _aligned(session: Session, file: Any) -> Results:
    """Reorder the rows of a file to the current positions of their images."""
    keys, n_answers = tuple(file["keys"].tolist()), int(file["n_answers"])
    probabilities, labels, moved = file["probabilities"], file["labels"], file["moved"]
    images, hashes = session.images, file["hashes"].astype(np.str_)
    _check_arrays(probabilities, labels, moved, hashes)
    if len(set(keys)) < len(keys) or len(keys) not in (0, probabilities.shape[1]) or n_answers < 0:
        raise ValueError(f"keys of {probabilities.shape[1]} clusters must be distinct")
    if "digest" not in file or str(file["digest"]) != images.digest:
        row_of = {h: row for row, h in enumerate(hashes.tolist())}
        rows = np.array([row_of.get(h, -1) for h in images.hashes], dtype=np.intp)
        is_known = rows >= 0
        probabilities = np.where(is_known[:, None], probabilities[rows], 0).astype(np.float32)
        labels, moved = np.where(is_known, labels[rows], -1), np.where(is_known, moved[rows], False)
    has_model = bool(file["has_model"]) if "has_model" in file else not keys
    version = str(file["constraints_version"]) if "constraints_version" in file else ""
    quality = _read_quality(str(file["quality"])) if "quality" in file else {}
    labels = labels.astype(np.intp)
    return Results(probabilities, labels, moved, keys, n_answers, has_model, version, quality)


def _check_arrays(
    probabilities: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    moved: npt.NDArray[Any],
    hashes: npt.NDArray[Any],
) -> None:
    """Raise ValueError unless arrays of a file have the shapes, types and values of results."""
    n, k = probabilities.shape
    shapes, kinds = (labels.shape, moved.shape, hashes.shape), labels.dtype.kind + moved.dtype.kind
    if not k or set(shapes) != {(n,)} or kinds != "ib" or probabilities.dtype != np.float32:
        raise ValueError(f"arrays have shapes {probabilities.shape}, {', '.join(map(str, shapes))}")
    if n and not (probabilities.min() >= 0 and probabilities.max() <= 1 + _ROUNDING):
        raise ValueError("probabilities must be between 0 and 1")
    if n and not (labels.min() >= -1 and labels.max() < k):
        raise ValueError(f"labels must be between -1 and {k - 1}")


def _read_quality(text: str) -> Quality:
    """Return the saved quality; empty if it is not what `save_results` wrote."""
    given = json.loads(text)
    is_valid = isinstance(given, dict) and all(isinstance(part, dict) for part in given.values())
    return given if is_valid else {}
