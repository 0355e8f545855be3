"""Feature blocks: each part of the embedding scaled, reduced by PCA, L2-normalised, and smoothed.

An encoder gives several feature blocks (layers of a network, colour histograms, visual words). They
differ in scale and width; here they become comparable. Every block is given twice, as it is and
smoothed over its nearest neighbours; `GPClassifier` learns how much each of them counts.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import stream
from likewise.types import Floats

Blocks = Mapping[str, npt.NDArray[np.floating]]
_CHUNK = 16_384  # rows transformed together, to bound memory
_FIT_ROWS = 5_000  # from which mean, scale and principal axes are fitted
_OVERSAMPLING = 16  # additional directions of the block power iteration
_REFERENCES, _NEIGHBORS = 2_000, 10
_SEARCH_COLUMNS = 64  # leading components in which neighbours are found
_DUPLICATE = 2e-5  # squared distance below which two rows are the same image


class FeatureBlocks:
    r"""Signed square root, standardisation, PCA, L2 norm and k-NN smoothing of each feature block.

    Parameters
    ----------
    blocks : sequence of str
        Names of the blocks, in order.
    n_components : int
        Principal components kept of a block that has more columns.

    Notes
    -----
    For block :math:`f`, :math:`u = \operatorname{sign}(x)\sqrt{|x|}`; each column is centred and
    divided by its standard deviation (shrunk towards the block's mean), projected on the leading
    principal axes, and each row divided by its length. The square root reduces the heavy tails of
    pooled activations; L2-normalised rows give every feature block the same weight.
    """

    n_views = 2  # of each block: as it is, and smoothed

    def __init__(self, blocks: Sequence[str], n_components: int = 128) -> None:
        self.blocks, self.n_components = list(blocks), n_components
        self.state: dict[str, Floats] = {}

    @property
    def names(self) -> list[str]:
        """Return the names that `transform` returns: all blocks as they are, then smoothed."""
        return [*self.blocks, *(f"{name} smoothed" for name in self.blocks)]

    def fit(self, raw: Blocks) -> "FeatureBlocks":
        """Fit every block to evenly spaced rows."""
        for name in self.blocks:
            sample = np.asarray(raw[name][:: -(-len(raw[name]) // _FIT_ROWS)], dtype=np.float32)
            rows = _signed_root(sample)
            mean, std = rows.mean(axis=0), rows.std(axis=0)
            # Shrunk towards the block's mean, so that rare bins do not dominate the distance.
            shrunk = np.sqrt(std**2 + (std**2).mean())
            scale = np.where(std > 1e-6, 1 / np.maximum(shrunk, 1e-6), 0.0).astype(np.float32)
            self.state[f"{name}.mean"], self.state[f"{name}.scale"] = mean, scale
            if rows.shape[1] > self.n_components + _OVERSAMPLING:
                axes = pca_axes((rows - mean) * scale, self.n_components)
                self.state[f"{name}.axes"] = axes
            self.state[f"{name}.references"] = reference_rows(self._normalised(name, sample))
        return self

    def transform(self, raw: Blocks) -> dict[str, Floats]:
        """Return the unit rows ``(n, d_f)`` of each block, as they are and smoothed."""
        plain = [self._plain(name, raw[name]) for name in self.blocks]
        smoothed = [
            knn_smooth(rows, self.state[f"{name}.references"])
            for name, rows in zip(self.blocks, plain, strict=True)
        ]
        return dict(zip(self.names, [*plain, *smoothed], strict=True))

    def unsmoothed(self, blocks: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return those blocks of the result of `transform` that are not smoothed."""
        return {name: blocks[name] for name in self.blocks}

    def _plain(self, name: str, raw: npt.NDArray[np.floating]) -> Floats:
        n_columns = self._normalised(name, raw[:0]).shape[1]
        rows = np.empty((len(raw), n_columns), dtype=np.float32)
        for start in range(0, len(raw), _CHUNK):
            rows[start : start + _CHUNK] = self._normalised(name, raw[start : start + _CHUNK])
        return rows

    def _normalised(self, name: str, raw: npt.NDArray[np.floating]) -> Floats:
        mean, scale = self.state[f"{name}.mean"], self.state[f"{name}.scale"]
        rows = (_signed_root(np.asarray(raw, dtype=np.float32)) - mean) * scale
        if f"{name}.axes" in self.state:
            rows = rows @ self.state[f"{name}.axes"]
        return normalise(rows)


def normalise(rows: Floats) -> Floats:
    """Return the rows divided by their Euclidean lengths; rows of zeros stay zero."""
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return unit


def _signed_root(rows: Floats) -> Floats:
    root = np.abs(rows)
    np.sqrt(root, out=root)
    return np.copysign(root, rows, out=root)


@single_threaded
def pca_axes(rows: Floats, n_components: int) -> Floats:
    """Return the leading principal axes ``(d, n_components)`` of centred rows.

    Block power iteration, ten times faster than a full eigendecomposition for hundreds of axes of
    thousands. Not scikit-learn's `randomized_svd`: other last digits would select other questions,
    and runs of earlier releases could not be repeated.
    """
    n_block = n_components + _OVERSAMPLING
    block = stream(0, "directions").standard_normal((rows.shape[1], n_block), dtype=np.float32)
    for _ in range(4):
        block = np.linalg.qr(rows.T @ (rows @ block))[0]
    inside = rows @ block
    _, vectors = np.linalg.eigh(inside.T @ inside)
    leading = vectors[:, ::-1][:, :n_components]
    axes: Floats = np.ascontiguousarray(block @ leading, dtype=np.float32)
    return axes


def concat_blocks(blocks: Mapping[str, Floats]) -> Floats:
    """Return unit rows of all blocks with equal weight; a view where there is one block."""
    if len(blocks) == 1:
        return next(iter(blocks.values()))
    rows: Floats = np.concatenate(list(blocks.values()), axis=1) / len(blocks) ** 0.5
    return rows


def reduce_dims(rows: Floats) -> Floats:
    """Return 64 principal components of rows with more than 96 columns, for fast clustering."""
    if rows.shape[1] <= 96:
        return rows
    mean = rows.mean(axis=0)
    axes = pca_axes(rows[:: -(-len(rows) // 4000)] - mean, 64)
    reduced = np.empty((len(rows), axes.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _CHUNK):
        reduced[start : start + _CHUNK] = (rows[start : start + _CHUNK] - mean) @ axes
    return reduced


def reference_rows(rows: Floats) -> Floats:
    """Return evenly spaced rows, reduced to their leading columns, as `references`."""
    return _leading_columns(rows[:: -(-len(rows) // _REFERENCES)])


def knn_smooth(rows: Floats, references: Floats) -> Floats:
    r"""Replace each row by the mean of its nearest references, of unit length.

    Parameters
    ----------
    rows : array of shape (n, d)
        Unit rows, leading principal components first.
    references : array of shape (m, at most d)
        From `reference_rows`.

    Notes
    -----
    :math:`c_i = \sum_{j \in N(i)} u_j`, divided by its length, where :math:`N(i)` are the ten
    references nearest to :math:`u_i` that are not the same image. Averaging removes what is
    particular to one image, so groups become denser, as in transductive few-shot learning. Only the
    references are searched, never the other rows given, so a prediction does not depend on them.
    """
    index = NearestNeighbors(algorithm="brute").fit(references)
    smoothed = np.empty((len(rows), references.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _CHUNK):
        part = _leading_columns(rows[start : start + _CHUNK])
        nearest = _nearest_others(part, index, len(references))
        smoothed[start : start + _CHUNK] = normalise(references[nearest].mean(axis=1))
    return smoothed


def _leading_columns(rows: Floats) -> Floats:
    return normalise(rows[:, :_SEARCH_COLUMNS])


def _nearest_others(
    rows: Floats, index: NearestNeighbors, n_references: int
) -> npt.NDArray[np.intp]:
    """Return the nearest references of each row, duplicates of it only if there are no others."""
    n_neighbors = min(_NEIGHBORS, n_references)
    n_searched = min(2 * _NEIGHBORS, n_references)
    distances, nearest = index.kneighbors(rows, n_searched)
    is_duplicate = distances**2 < _DUPLICATE
    has_few = np.flatnonzero((~is_duplicate).sum(axis=1) < n_neighbors)
    order = np.argsort(is_duplicate, axis=1, kind="stable")
    found: npt.NDArray[np.intp] = np.take_along_axis(nearest, order, axis=1)[:, :n_neighbors]
    if len(has_few) and n_searched < n_references:  # an image that occurs very often
        distances, nearest = index.kneighbors(rows[has_few], n_references)
        order = np.argsort(distances**2 < _DUPLICATE, axis=1, kind="stable")
        found[has_few] = np.take_along_axis(nearest, order, axis=1)[:, :n_neighbors]
    return found
