"""Visual words: recurring patches of a collection, and how often each occurs in an image."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import MiniBatchKMeans

from likewise.errors import InvalidParameterError
from likewise.estimators.thread_limits import single_threaded
from likewise.random_streams import derive, stream
from likewise.types import Floats

if TYPE_CHECKING:
    from likewise.embedding.embeddings import LocalFeatures

_FIT_IMAGES, _FIT_PATCHES = 2_000, 20_000  # from which the codebook is fitted
_TEMPERATURE = 0.1  # of the soft assignment, in mean squared distances
_CHUNK = 128  # images transformed together, to bound memory
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
        for some in np.array_split(images, -(-len(images) // _CHUNK)):
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
    for start in range(0, n, _CHUNK):
        yield slice(start, min(start + _CHUNK, n))
