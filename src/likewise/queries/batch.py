"""Constraints restricted to one batch, so that a batch can be used as a pool."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation, Relations
from likewise.types import Indexes, Pairs


@dataclass(frozen=True)
class BatchConstraints:
    """The constraint graph restricted to the images of a batch, as of its first access.

    Use it in a `Pool` of the batch's own embeddings; every strategy then works inside the
    batch, as in the papers. `in_collection` converts the selected pairs back.

    Parameters
    ----------
    graph : ConstraintGraph
        Over the whole collection.
    indexes : array of shape (b,)
        The images of the batch; in this class they are numbered from 0 to b - 1.
    """

    graph: ConstraintGraph
    indexes: Indexes

    @property
    def n_images(self) -> int:
        """Number of images in the batch."""
        return len(self.indexes)

    @cached_property
    def bad_images(self) -> Collection[int]:
        """The bad images of the batch."""
        is_bad = np.isin(self.indexes, list(self.graph.bad_images))
        return frozenset(np.flatnonzero(is_bad).tolist())

    @cached_property
    def matrix(self) -> Relations:
        """Given and implied relations within the batch, shape (b, b), zero diagonal."""
        return self.graph.relations(self.indexes)

    def pair_relations(self, pairs: Pairs) -> Relations:
        """Return the given or implied relation of each pair of the batch."""
        return self.matrix[pairs[:, 0], pairs[:, 1]]

    def groups(self) -> Indexes:
        """Return the group of each image of the batch, identified by its first member."""
        is_same = (self.matrix == Relation.SAME) | np.eye(self.n_images, dtype=bool)
        first: Indexes = is_same.argmax(axis=1)
        return first

    def cannot_links(self) -> Pairs:
        """Return the pairs of groups connected by a cannot-link."""
        groups = self.groups()
        is_first = groups == np.arange(self.n_images)  # one row per group is enough
        is_different = np.triu(self.matrix == Relation.DIFFERENT) & is_first & is_first[:, None]
        return np.argwhere(is_different)

    def in_batch(self, pairs: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """Return the pairs of the collection that lie in the batch, as positions in the batch."""
        position = {image: place for place, image in enumerate(self.indexes.tolist())}
        inside = ((position[i], position[j]) for i, j in pairs if i in position and j in position)
        return frozenset((min(pair), max(pair)) for pair in inside)

    def in_collection(self, pairs: Pairs) -> Pairs:
        """Return pairs of the batch as sorted pairs of the collection."""
        return np.sort(self.indexes[pairs], axis=1)
