"""Facets made comparable and small: unit rows for each facet, fitted once, saved with the model."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from likewise.methods.company import in_company, witnesses
from likewise.methods.one_thread import on_one_thread
from likewise.seeds import stream

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.floating]
_AT_ONCE = 16_384  # rows, so that memory stays small
_FIT_ROWS = 5_000  # rows from which mean, spread and directions are learned


class FacetSpace:
    r"""Signed square root, standardised, at most `width` directions, unit rows: for each facet.

    Notes
    -----
    For facet :math:`f`, :math:`u = \operatorname{sign}(x)\sqrt{|x|}`, each column
    centred and divided by its spread (shrunk to the facet's mean spread), projected on its
    leading principal directions, divided by its length. The square root tames the tails of
    pooled activations; with unit rows every facet speaks with one voice. Each facet is given
    twice: alone, and as `in_company` of its neighbours.

    Parameters
    ----------
    facets : sequence of str
        Their names, in order.
    width : int
        Directions kept of a facet that has more columns.
    """

    n_views = 2

    def __init__(self, facets: Sequence[str], width: int = 128) -> None:
        self.facets, self.width = list(facets), width
        self.arrays: dict[str, npt.NDArray[np.float32]] = {}

    def fit(self, raw: Mapping[str, Rows]) -> "FacetSpace":
        """Learn from evenly spaced rows of each facet."""
        for name in self.facets:
            step = -(-len(raw[name]) // _FIT_ROWS)
            sample = np.asarray(raw[name][::step], dtype=np.float32)
            rows = _root(sample)
            mean, std = rows.mean(axis=0), rows.std(axis=0)
            # Shrunk towards the facet's common spread: a rare bin must not shout.
            spread = np.sqrt(std**2 + (std**2).mean())
            scale = np.where(std > 1e-6, 1 / np.maximum(spread, 1e-6), 0.0).astype(np.float32)
            self.arrays[f"{name}.mean"], self.arrays[f"{name}.scale"] = mean, scale
            if rows.shape[1] > self.width + 16:
                self.arrays[f"{name}.axes"] = leading((rows - mean) * scale, self.width)
            self.arrays[f"{name}.witnesses"] = witnesses(self._rows(name, sample))
        return self

    def alone(self, facets: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the facets, of what a call returned, that are not in company."""
        return {name: facets[name] for name in self.facets}

    @property
    def names(self) -> list[str]:
        """Return the names of what a call returns: every facet alone, then each in company."""
        return [*self.facets, *(f"{name} in company" for name in self.facets)]

    def __call__(self, raw: Mapping[str, Rows]) -> dict[str, Floats]:
        """Return unit rows ``(n, d_f)`` of each facet, alone and in company."""
        alone = [self._alone(name, raw[name]) for name in self.facets]
        company = [
            in_company(rows, self.arrays[f"{name}.witnesses"])
            for name, rows in zip(self.facets, alone, strict=True)
        ]
        return dict(zip(self.names, [*alone, *company], strict=True))

    def _alone(self, name: str, raw: Rows) -> Floats:
        """Return the unit rows of a facet, made in parts, so that nothing is held twice."""
        width = self._rows(name, raw[:0]).shape[1]
        rows = np.empty((len(raw), width), dtype=np.float32)
        for at in range(0, len(raw), _AT_ONCE):
            rows[at : at + _AT_ONCE] = self._rows(name, raw[at : at + _AT_ONCE])
        return rows

    def _rows(self, name: str, raw: Rows) -> Floats:
        rows = (
            _root(np.asarray(raw, dtype=np.float32)) - self.arrays[f"{name}.mean"]
        ) * self.arrays[f"{name}.scale"]
        if f"{name}.axes" in self.arrays:
            rows = rows @ self.arrays[f"{name}.axes"]
        unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


def _root(rows: Floats) -> Floats:
    root = np.abs(rows)
    np.sqrt(root, out=root)
    return np.copysign(root, rows, out=root)


@on_one_thread
def leading(rows: Floats, width: int) -> Floats:
    """Return the leading principal directions of centred rows, ``(d, width)``.

    By a few power iterations on a block, which for hundreds of directions of
    thousands is ten times quicker than all eigenvectors.
    """
    block = stream(0, "directions").standard_normal((rows.shape[1], width + 16), dtype=np.float32)
    for _ in range(4):
        block = np.linalg.qr(rows.T @ (rows @ block))[0]
    inside = rows @ block
    _, vectors = np.linalg.eigh(inside.T @ inside)
    axes: Floats = np.ascontiguousarray(block @ vectors[:, ::-1][:, :width], dtype=np.float32)
    return axes


def side_by_side(facets: Mapping[str, Floats]) -> Floats:
    """Return unit rows in which every facet counts the same; do not write into them."""
    if len(facets) == 1:
        return next(iter(facets.values()))
    rows: Floats = np.concatenate(list(facets.values()), axis=1) / len(facets) ** 0.5
    return rows


def overview(rows: Floats) -> Floats:
    """Return few columns that keep most of the distances, for quick coverage."""
    if rows.shape[1] <= 96:
        return rows
    mean = rows.mean(axis=0)
    axes = leading(rows[:: -(-len(rows) // 4000)] - mean, 64)
    found = np.empty((len(rows), axes.shape[1]), dtype=np.float32)
    for at in range(0, len(rows), _AT_ONCE):
        found[at : at + _AT_ONCE] = (rows[at : at + _AT_ONCE] - mean) @ axes
    return found
