"""NMF: parts that add up, one call of scikit-learn; an image belongs to its largest part."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from sklearn.decomposition import NMF as _NMF
from sklearn.exceptions import ConvergenceWarning

from likewise.methods.rivals.rows import Indexes, RowsRival
from likewise.methods.shared_parameters import VectorParameters
from likewise.seeds import derive
from likewise.types import Floats


@dataclass(eq=False, repr=False)
class NMF(VectorParameters, RowsRival):
    r"""Non-negative matrix factorisation: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
        Also the number of parts.
    n_steps : int
        Steps of the factorisation.
    encoder : str or Encoder
        How pictures become vectors.
    random_state : int, optional

    Notes
    -----
    D. Cai, X. He, X. Wang, H. Bao, J. Han: *Locality preserving nonnegative matrix
    factorization*. IJCAI 2009, the row NMF of the historical table of [CC]_:
    :math:`X \approx W H` with nothing negative, one part (row of H) a cluster; an image goes to
    the part with the largest share :math:`W_{ik} \|H_k\|`.

    Choices. Plain factorisation, one call of scikit-learn, without the locality term, which it
    does not have. *Inferred:* our rows are centred, so each column becomes two, what is above
    the mean and what is below, both non-negative. *Fidelity:* the same vectors as all other
    methods, not pixels, and the part itself is the cluster, where the table's k-means on W is
    one more choice.

    Published property: parts add and never cancel, so each is made of columns that rise together.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    n_steps: int = 200

    def _group(self, rows: Floats) -> Indexes:
        method = _NMF(
            self._n_clusters,
            init="nndsvda",
            max_iter=self._settings.n_steps,
            random_state=derive(self._seed, "nmf") % 2**31,
        )
        with warnings.catch_warnings():  # a good factorisation, if not the last digit of one
            warnings.simplefilter("ignore", ConvergenceWarning)
            shares = method.fit_transform(np.hstack([rows, -rows]).clip(min=0))
        largest: Indexes = (shares * np.linalg.norm(method.components_, axis=1)).argmax(axis=1)
        return largest
