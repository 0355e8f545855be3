"""The vectors of a collection, in facets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from likewise.encoders.columns import side_by_side
from likewise.encoders.encoder import Floats
from likewise.encoders.places import Places
from likewise.errors import InvalidParameterError
from likewise.images.unreadable import Skipped

Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Embeddings:
    """One row an image in each facet.

    Parameters
    ----------
    facets : mapping of str to array of shape (n, d)
        In order; all with the same number of rows.
    skipped : sequence of Skipped
        Images that could not be read; they have no row.
    kept : array of shape (n,), optional
        The position in the collection of each row; None if every image has one.
    places : Places, optional
        What the images show place by place, where the encoder tells.

    Examples
    --------
    >>> both = Embeddings({"last": np.ones((3, 4), "f4"), "stage1": np.zeros((3, 2), "f4")})
    >>> both.matrix().shape, both.slices["stage1"]
    ((3, 6), slice(4, 6, None))
    """

    facets: Mapping[str, Floats]
    skipped: Sequence[Skipped] = ()
    kept: Indexes | None = None
    places: Places | None = None
    _matrix: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        counts = {len(vectors) for vectors in self.facets.values()}
        if len(counts) != 1:
            raise InvalidParameterError(
                f"The facets have {sorted(counts)} rows; give one row an image in each of them."
            )

    @classmethod
    def split(
        cls,
        matrix: Floats,
        widths: Mapping[str, int],
        skipped: Sequence[Skipped] = (),
        kept: Indexes | None = None,
        places: Places | None = None,
    ) -> Self:
        """Return the columns of `matrix` as facets, without a copy."""
        facets = {name: matrix[:, columns] for name, columns in side_by_side(widths).items()}
        return cls(facets, skipped, kept, places, matrix)

    def take(self, rows: Indexes) -> Self:
        """Return some of the images, in that order."""
        widths = {facet: vectors.shape[1] for facet, vectors in self.facets.items()}
        places = None if self.places is None else self.places.take(rows)
        return self.split(self.matrix()[rows], widths, places=places)

    def __len__(self) -> int:
        return len(next(iter(self.facets.values())))

    @property
    def slices(self) -> dict[str, slice]:
        """Return the columns of each facet in `matrix`."""
        return side_by_side({facet: vectors.shape[1] for facet, vectors in self.facets.items()})

    def matrix(self) -> Floats:
        """Return all facets side by side, ``(n, sum of widths)``; not to be written to."""
        if self._matrix is not None:
            return self._matrix
        facets = list(self.facets.values())
        return facets[0] if len(facets) == 1 else np.concatenate(facets, axis=1)
