"""IDC's value of asking about an image: hard, yet typical, and unlike those asked already."""

import numpy as np
import numpy.typing as npt

from likewise.queries.density import neighbour_distances

Floats = npt.NDArray[np.floating]
Indexes = npt.NDArray[np.intp]
_N_NEIGHBOURS = 20
_CANDIDATES = 600  # images of most value among which diversity is looked for


def mine(
    worth: Floats,
    rows: Floats,
    is_open: npt.NDArray[np.bool_],
    asked: Indexes,
    n: int,
) -> Indexes:
    r"""Return the `n` open images most worth asking about, best first.

    Parameters
    ----------
    worth : array of shape (n_images,)
        Of each image by itself, see `worth_of`.
    rows : array of shape (n_images, d)
        Unit rows.
    is_open : array of shape (n_images,)
    asked : array of int
        Images asked about before.
    n : int

    Notes
    -----
    The value of an image is the sum of three shares, each from 0 to 1 over all images: *hardness*
    :math:`1 - (p_{(1)} - p_{(2)})`; *representativeness*, minus the mean squared distance to its
    neighbours; *diversity*, one minus the largest cosine with an image taken before. The first
    two are fixed; the last falls as images are taken, so they are taken one by one.
    """
    candidates = np.flatnonzero(is_open)
    candidates = candidates[np.argsort(-worth[candidates], kind="stable")][: max(_CANDIDATES, n)]
    nearest = np.full(len(candidates), -1.0)
    if len(asked):
        nearest = (rows[candidates] @ rows[asked].T).max(axis=1).astype(np.float64)
    chosen: list[int] = []
    for _ in range(min(n, len(candidates))):
        value = worth[candidates] + (1 - nearest) / 2
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
        nearest = np.maximum(nearest, rows[candidates] @ rows[candidates[chosen[-1]]])
    return candidates[chosen]


def worth_of(probabilities: Floats, rows: Floats) -> Floats:
    """Return hardness and representativeness of each image, both as shares, added."""
    return _share(hardness(probabilities)) + _share(representativeness(rows))


def hardness(probabilities: Floats) -> Floats:
    """Return how near the second cluster is to the first, 1 if they are equally likely."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
    found: Floats = 1 - (first - second)
    return found


def representativeness(rows: Floats) -> Floats:
    """Return how near the neighbours of each image are, larger is nearer."""
    everybody = np.arange(len(rows))
    return -neighbour_distances(rows, everybody, everybody, _N_NEIGHBOURS)


def _share(values: Floats) -> Floats:
    """Return values stretched to 0 to 1; all 0 if they are equal."""
    low, high = float(values.min()), float(values.max())
    found: Floats = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return found
