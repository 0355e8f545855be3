"""Features of `Likewise`: blocks reduced by PCA and k-NN-smoothed, and visual words of patches.

An encoder gives several feature blocks (layers of a network, colour histograms, visual words). They
differ in scale and width; here they become comparable. Every block is used twice, unchanged and
smoothed over its nearest neighbours; `GPClassifier` learns how much each of them counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.cluster import MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from likewise.errors import InvalidParameterError
from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive, stream
from likewise.types import Floats

if TYPE_CHECKING:
    from likewise.embedding.embeddings import LocalFeatures


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
        self.blocks: list[str] = list(blocks)
        self.n_components = n_components
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


_FIT_IMAGES, _FIT_PATCHES = 2_000, 20_000  # from which the codebook is fitted
_TEMPERATURE = 0.1  # of the soft assignment, in mean squared distances
_IMAGES_AT_ONCE = 128  # images transformed together, to bound memory
_ARRAYS = ("mean", "scale", "codebook", "mean_distance")
COLORS = "visual words of colours"  # the feature block of the patch grid called "colours"


class VisualWords:
    r"""Bag of visual words [BOVW]_ with soft assignment [SOFT]_, fitted to a collection.

    A small symbol in a corner changes the mean over an image by a hundredth, but it recurs from
    image to image in few forms; so do colours of objects. Codebooks of other collections do not
    help (docs/research/likewise_experiments.md).

    Parameters
    ----------
    n_words : int
        Words of each patch grid; 0 turns visual words off.
    seed : int

    Notes
    -----
    For each grid of patch vectors :math:`x_p`, standardised over the collection, k-means gives the
    codebook :math:`c_w`. With :math:`\bar d` the mean of :math:`\min_w \|x_p - c_w\|^2`, the
    histogram of an image is

    .. math:: h_w = \frac1P \sum_p \frac{\exp(-\|x_p - c_w\|^2 / 0.1 \bar d)}
                                        {\sum_v \exp(-\|x_p - c_v\|^2 / 0.1 \bar d)} .
    """

    def __init__(self, n_words: int, seed: int) -> None:
        if n_words < 0 or n_words == 1:
            raise InvalidParameterError(
                f"n_visual_words must be 0 (off) or at least 2, got {n_words}."
            )
        self._n_words, self._seed = n_words, seed
        self.state: dict[str, Floats] = {}

    @property
    def names(self) -> list[str]:
        """Return the names of the feature blocks that `transform` returns."""
        return [block_name(grid) for grid in self._grids]

    @property
    def _grids(self) -> list[str]:
        """Return the patch grids that have a codebook, in alphabetical order."""
        ending = ".codebook"
        return sorted(name.removesuffix(ending) for name in self.state if name.endswith(ending))

    def fit(self, patches: "LocalFeatures | None") -> "VisualWords":
        """Fit the codebooks; there are none without patches, or where all patches are equal."""
        if patches is not None and self._n_words and len(patches):
            for grid in patches.grids:
                self._fit_codebook(grid, self._sample(grid, patches))
        return self

    def transform(self, patches: "LocalFeatures | None") -> dict[str, Floats]:
        """Return the histograms of visual words ``(n, n_words)`` of each grid."""
        if not self._grids:
            return {}
        if patches is None:
            raise InvalidParameterError(
                "This model was trained on images with patch vectors, which plain vectors do not "
                "have; pass images, or the result of `embed`."
            )
        return {block_name(grid): self._histograms(grid, patches) for grid in self._grids}

    def _sample(self, grid: str, patches: "LocalFeatures") -> Floats:
        """Return patch vectors drawn from evenly spaced images."""
        images = np.arange(0, len(patches), -(-len(patches) // _FIT_IMAGES))
        per_image = -(-_FIT_PATCHES // len(images))
        rng, sampled = stream(self._seed, "vocabulary", grid), []
        for some in np.array_split(images, -(-len(images) // _IMAGES_AT_ONCE)):
            vectors = patches.read(grid, some)
            numbers = np.tile(np.arange(vectors.shape[1]), (len(some), 1))
            chosen = rng.permuted(numbers, axis=1)[:, :per_image]
            sampled.append(np.take_along_axis(vectors, chosen[:, :, None], axis=1))
        return np.concatenate(sampled).reshape(-1, sampled[0].shape[2])

    @single_threaded
    def _fit_codebook(self, grid: str, sample: Floats) -> None:
        mean, std = sample.mean(axis=0), sample.std(axis=0)
        scale = np.where(std > 1e-6, 1 / np.maximum(std, 1e-6), 0.0).astype(np.float32)
        rows = (sample - mean) * scale
        n_words = min(self._n_words, len(np.unique(rows, axis=0)) // 2)
        if n_words < 2:
            return
        seed = derive(self._seed, "words", grid) % 2**31
        kmeans = MiniBatchKMeans(n_words, n_init=1, batch_size=4096, max_iter=20, random_state=seed)
        codebook = kmeans.fit(rows).cluster_centers_.astype(np.float32)
        nearest = _squared_distances(rows, codebook).min(axis=1)
        mean_distance = np.array(max(float(nearest.mean()), 1e-6), np.float32)
        arrays = (mean, scale, codebook, mean_distance)
        self.state |= {f"{grid}.{name}": x for name, x in zip(_ARRAYS, arrays, strict=True)}

    def _histograms(self, grid: str, patches: "LocalFeatures") -> Floats:
        mean, scale, codebook, mean_distance = (self.state[f"{grid}.{name}"] for name in _ARRAYS)
        # softmax(-d / t) over words: the squared length of a patch vector cancels.
        factor = np.float32(1 / (_TEMPERATURE * float(mean_distance)))
        slopes, offsets = 2 * factor * codebook.T, factor * (codebook * codebook).sum(axis=1)
        histograms = np.empty((len(patches), len(codebook)), dtype=np.float32)
        for chunk in _chunks(len(patches)):
            vectors = (patches.read(grid, chunk) - mean) * scale  # (m, p, d)
            logits = vectors @ slopes - offsets  # (m, p, w)
            logits -= logits.max(axis=2, keepdims=True)
            weights = np.exp(logits, out=logits)
            totals = weights.sum(axis=2) * weights.shape[1]
            histograms[chunk] = ((1 / totals)[:, None, :] @ weights)[:, 0]
        return histograms


def block_name(grid: str) -> str:
    """Return the name of the feature block of a patch grid."""
    return f"visual words of {grid}"


def _squared_distances(rows: Floats, codebook: Floats) -> Floats:
    """Return squared distances ``(n, w)`` in single precision (scikit-learn's are slower)."""
    lengths = (codebook * codebook).sum(axis=1) + (rows * rows).sum(axis=1)[:, None]
    distances: Floats = lengths - 2 * (rows @ codebook.T)
    return distances


def _chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, _IMAGES_AT_ONCE):
        yield slice(start, min(start + _IMAGES_AT_ONCE, n))
