"""The map: a linear 2-D projection of the learned rows that separates the groups."""

import os

import numpy as np
import numpy.typing as npt

from likewise.session.atomic import make_folder, write_atomic
from likewise.session.session import Session
from likewise.types import Floats, Indexes

FILE = "map.npz"
SCALE = 10_000  # coordinates are integers from 0 to this
_TOTAL_WEIGHT = 0.3  # weight of the total scatter, relative to the between-group scatter


def project_2d(rows: Floats, groups: Indexes) -> npt.NDArray[np.uint16]:
    """Return the coordinates of each row on the map, (n, 2), from 0 to `SCALE`.

    The axes are the two leading eigenvectors of the between-group scatter plus a smaller part
    of the total scatter, which determines the second axis where there are two groups or the
    groups hardly differ. The outermost 0.2 % on each side are clipped to the border.

    Parameters
    ----------
    rows : array of shape (n, d)
    groups : array of shape (n,)
    """
    centred = rows - rows.mean(axis=0)
    means = _weighted_means(centred, groups)
    scatter = _unit_trace(means.T @ means) + _TOTAL_WEIGHT * _unit_trace(centred.T @ centred)
    _, directions = np.linalg.eigh(scatter)
    plane = centred @ directions[:, -2:][:, ::-1]
    if plane.shape[1] == 1:
        plane = np.concatenate([plane, np.zeros_like(plane)], axis=1)
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1, 1)
    low, high = np.quantile(plane, [0.002, 0.998], axis=0)
    unit = (plane - low) / np.maximum(high - low, 1e-9)
    return np.asarray(np.clip(0.02 + 0.96 * unit, 0, 1) * SCALE, dtype=np.uint16)


def _weighted_means(rows: Floats, groups: Indexes) -> Floats:
    """Return the mean of each group times the square root of its size."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.stack([rows[one].sum(axis=0) / np.sqrt(len(one)) for one in members])


def _unit_trace(scatter: Floats) -> Floats:
    """Return a scatter matrix divided by its trace; a zero matrix stays zero."""
    return np.asarray(scatter / max(float(np.trace(scatter)), 1e-12), dtype=scatter.dtype)


def save_map(
    session: Session, criterion: str, positions: Indexes, places: npt.NDArray[np.uint16]
) -> None:
    """Save the map of a criterion: the positions of the images and their coordinates."""
    folder = session.model_folder(criterion)
    make_folder(folder)

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            np.savez(stream, positions=positions, places=places)

    write_atomic(folder / FILE, write)


def load_map(session: Session, criterion: str) -> tuple[Indexes, npt.NDArray[np.uint16]]:
    """Return positions and coordinates; both are empty before the first training."""
    try:
        with np.load(session.model_folder(criterion) / FILE, allow_pickle=False) as file:
            return file["positions"], file["places"]
    except (OSError, ValueError, KeyError):
        return np.zeros(0, dtype=np.intp), np.zeros((0, 2), dtype=np.uint16)
