"""Words of a collection's own: which parts and colours recur in it, and how much each image has."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from sklearn.cluster import MiniBatchKMeans
from torch import Tensor

from likewise.embedding.embeddings import LocalFeatures
from likewise.errors import InvalidParameterError
from likewise.methods.one_thread import on_one_thread
from likewise.seeds import derive, stream

Floats = npt.NDArray[np.float32]
_FIT_IMAGES, _FIT_PLACES = 2_000, 20_000  # from which words are found
_SOFTNESS = 0.1  # of what is usual between a place and its word
_AT_ONCE = 128  # images, so that memory stays small
COLOURS = "own colours"  # the facet of the grid of that name
_NUMBERS = ("mean", "scale", "words", "usual")


class Vocabulary:
    r"""Visual words [BOVW]_ found in a collection, with soft assignment [SOFT]_.

    A symbol in a corner is a hundredth of a picture: the mean over the picture hardly knows it,
    but it recurs, picture after picture, in the same few forms. So do the colours of things.
    Words found elsewhere do not help (measured, docs/methods/likewise.md); a collection's own do.

    Notes
    -----
    For each grid of `Places`, vectors :math:`x_p` standardised over the collection, k-means gives
    words :math:`c_w`. With :math:`\bar d` the mean of :math:`\min_w \|x_p - c_w\|^2`, an image
    has of word :math:`w`

    .. math:: h_w = \frac1P \sum_p \frac{\exp(-\|x_p - c_w\|^2 / 0.1 \bar d)}
                                        {\sum_v \exp(-\|x_p - c_v\|^2 / 0.1 \bar d)} .

    Parameters
    ----------
    n_words : int
        Words of each grid; 0 leaves places alone.
    seed : int
    """

    def __init__(self, n_words: int, seed: int) -> None:
        if n_words < 0 or n_words == 1:
            raise InvalidParameterError(
                f"n_words={n_words} tells no two pictures apart; choose 2 or more, or 0 for none."
            )
        self._n_words, self._seed = n_words, seed
        self.arrays: dict[str, Floats] = {}

    @property
    def names(self) -> list[str]:
        """Return the facets that a call gives."""
        return [_facet(grid) for grid in self._grids]

    @property
    def _grids(self) -> list[str]:
        """Return the grids in which words were found, in the order of the alphabet."""
        ending = ".words"
        return sorted(name.removesuffix(ending) for name in self.arrays if name.endswith(ending))

    def fit(self, places: LocalFeatures | None) -> "Vocabulary":
        """Find the words of a collection; none where there are no places, or all are alike."""
        if places is not None and self._n_words and len(places):
            for grid in places.grids:
                self._find(grid, self._sample(grid, places))
        return self

    def __call__(self, places: LocalFeatures | None) -> dict[str, Floats]:
        """Return for each grid how much of each word every image has, ``(n, n_words)``."""
        if not self._grids:
            return {}
        if places is None:
            raise InvalidParameterError(
                "This model was learned from pictures and looks at places in them, which plain "
                "vectors do not tell; give pictures, or what `embed` returns."
            )
        return {_facet(grid): self._shares(grid, places) for grid in self._grids}

    def _sample(self, grid: str, places: LocalFeatures) -> Floats:
        """Return vectors of places drawn from evenly spaced images."""
        images = np.arange(0, len(places), -(-len(places) // _FIT_IMAGES))
        each = -(-_FIT_PLACES // len(images))
        rng, found = stream(self._seed, "vocabulary", grid), []
        for some in np.array_split(images, -(-len(images) // _AT_ONCE)):
            vectors = places.read(grid, some)
            n_places = vectors.shape[1]
            chosen = rng.permuted(np.tile(np.arange(n_places), (len(some), 1)), axis=1)[:, :each]
            found.append(np.take_along_axis(vectors, chosen[:, :, None], axis=1))
        return np.concatenate(found).reshape(-1, found[0].shape[2])

    @on_one_thread
    def _find(self, grid: str, sample: Floats) -> None:
        mean, spread = sample.mean(axis=0), sample.std(axis=0)
        scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 1e-6), 0.0).astype(np.float32)
        rows = (sample - mean) * scale
        n_words = min(self._n_words, len(np.unique(rows, axis=0)) // 2)
        if n_words < 2:
            return
        seed = derive(self._seed, "words", grid) % 2**31
        means = MiniBatchKMeans(n_words, n_init=1, batch_size=4096, max_iter=20, random_state=seed)
        words = means.fit(rows).cluster_centers_.astype(np.float32)
        nearest = _squared(torch.from_numpy(rows), torch.from_numpy(words)).min(dim=1).values
        usual = np.array(max(float(nearest.mean()), 1e-6), np.float32)
        numbers = (mean, scale, words, usual)
        self.arrays |= {f"{grid}.{name}": x for name, x in zip(_NUMBERS, numbers, strict=True)}

    def _shares(self, grid: str, places: LocalFeatures) -> Floats:
        mean, scale, words, usual = (
            torch.from_numpy(np.asarray(self.arrays[f"{grid}.{name}"])) for name in _NUMBERS
        )
        found = np.empty((len(places), len(words)), dtype=np.float32)
        for at in _parts(len(places)):
            vectors = (torch.from_numpy(places.read(grid, at)) - mean) * scale  # (m, p, d)
            away = _squared(vectors.flatten(0, 1), words) / (_SOFTNESS * usual)
            shares = torch.softmax(-away, dim=1).unflatten(0, vectors.shape[:2])
            found[at] = shares.mean(dim=1).numpy()
        return found


def _facet(grid: str) -> str:
    """Return the name of the facet that a grid gives; an encoder's own has no space in it."""
    return f"own {grid}"


def _squared(rows: Tensor, words: Tensor) -> Tensor:
    """Return squared distances ``(n, w)``."""
    return (words * words).sum(1) - 2 * (rows @ words.T) + (rows * rows).sum(1)[:, None]


def _parts(n: int) -> Iterator[slice]:
    for start in range(0, n, _AT_ONCE):
        yield slice(start, min(start + _AT_ONCE, n))
