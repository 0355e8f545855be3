"""The map: every image as a point in the plane, groups beside each other where they differ."""

import os

import numpy as np
import numpy.typing as npt

from likewise.session.atomic import write_atomic
from likewise.session.session import Session
from likewise.types import Indexes

FILE = "map.npz"
SCALE = 10_000  # coordinates are whole numbers from 0 to this
_REST = 0.3  # what all rows say about the plane, beside what the groups say
Floats = npt.NDArray[np.float32]


def flatten(rows: Floats, groups: Indexes) -> npt.NDArray[np.uint16]:
    """Return the place of each row on the map, (n, 2), from 0 to `SCALE`.

    The plane is the one in which the groups lie farthest apart; with two groups, or where they
    hardly differ, the direction in which all rows vary most decides the rest. The rare far point
    is put at the edge, so that the others have room.

    Parameters
    ----------
    rows : array of shape (n, d)
    groups : array of shape (n,)
    """
    centred = rows - rows.mean(axis=0)
    means = _means(centred, groups)
    scatter = _unit(means.T @ means) + _REST * _unit(centred.T @ centred)
    _, directions = np.linalg.eigh(scatter)
    plane = centred @ directions[:, -2:][:, ::-1]
    if plane.shape[1] == 1:
        plane = np.concatenate([plane, np.zeros_like(plane)], axis=1)
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1, 1)
    low, high = np.quantile(plane, [0.002, 0.998], axis=0)
    unit = (plane - low) / np.maximum(high - low, 1e-9)
    return np.asarray(np.clip(0.02 + 0.96 * unit, 0, 1) * SCALE, dtype=np.uint16)


def _means(rows: Floats, groups: Indexes) -> Floats:
    """Return the mean of each group, times the root of its share."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    return np.stack([rows[one].sum(axis=0) / np.sqrt(len(one)) for one in members])


def _unit(scatter: Floats) -> Floats:
    """Return a scatter matrix of trace one; of nothing, nothing."""
    return np.asarray(scatter / max(float(np.trace(scatter)), 1e-12), dtype=scatter.dtype)


def save_map(
    session: Session, orientation: str, positions: Indexes, places: npt.NDArray[np.uint16]
) -> None:
    """Keep the map beside the results."""
    folder = session.model_folder(orientation)
    folder.mkdir(parents=True, exist_ok=True)

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            np.savez(stream, positions=positions, places=places)

    write_atomic(folder / FILE, write)


def load_map(session: Session, orientation: str) -> tuple[Indexes, npt.NDArray[np.uint16]]:
    """Return positions and places; none before the first training."""
    try:
        with np.load(session.model_folder(orientation) / FILE, allow_pickle=False) as file:
            return file["positions"], file["places"]
    except (OSError, ValueError, KeyError):
        return np.zeros(0, dtype=np.intp), np.zeros((0, 2), dtype=np.uint16)
