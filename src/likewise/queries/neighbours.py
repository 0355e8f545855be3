"""How near the nearest images are: what density and compactness are made of."""

import numpy as np

from likewise.constraints.relation import Indexes
from likewise.queries.pool import Floats
from likewise.queries.similarity import all_products

_CELLS = 4_000_000  # distances held at once


def neighbour_distances(embeddings: Floats, images: Indexes, among: Indexes, k: int) -> Floats:
    """Return the mean squared distance of each image to its `k` nearest, itself left out, (m,).

    Parameters
    ----------
    embeddings : array of shape (n, d)
    images : array of shape (m,)
    among : array of shape (r,)
        Where neighbours are looked for; sorted, each once. Where it has fewer than `k` others,
        the mean is over these; where it has none, 0.
    k : int
    """
    others = embeddings[among]
    lengths = np.einsum("rd,rd->r", others, others)
    means = np.zeros(len(images))
    k = min(k, len(among) - 1)
    n_rows = max(1, _CELLS // max(len(among), 1))
    for start in range(0, len(images) if k > 0 else 0, n_rows):
        part = images[start : start + n_rows]
        rows = embeddings[part]
        squared = (
            np.einsum("md,md->m", rows, rows)[:, None] + lengths - 2 * all_products(rows, others)
        )
        place = np.searchsorted(among, part).clip(max=len(among) - 1)
        is_inside = among[place] == part
        squared[is_inside, place[is_inside]] = np.inf
        nearest = np.partition(squared, k - 1, axis=1)[:, :k]
        means[start : start + n_rows] = nearest.clip(min=0).mean(axis=1)
    return means
