"""How many groups there may be, before anyone has said a word."""

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from likewise.methods.one_thread import on_one_thread
from likewise.seeds import derive

_SAMPLE = 1_000
_MOST = 10


@on_one_thread
def guess_n_clusters(rows: npt.NDArray[np.float32], seed: int) -> int:
    """Return the number of clusters, 2 to 10, with the best silhouette on a sample of `rows`."""
    sample = rows[:: -(-len(rows) // _SAMPLE)]
    state = derive(seed, "number of clusters") % 2**31
    best, best_score = 1, -np.inf
    for k in range(2, min(_MOST, len(sample) - 1) + 1):
        found = KMeans(k, n_init=2, random_state=state).fit_predict(sample)
        score = silhouette_score(sample, found) if len(set(found)) > 1 else -1.0
        if score > best_score:
            best, best_score = k, float(score)
    return best
