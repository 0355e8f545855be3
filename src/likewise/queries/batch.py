"""One batch as a pool of its own: images are counted from 0 to b - 1, nothing is n x n."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.relation import Indexes, Pairs, Relation, Relations


@dataclass(frozen=True)
class BatchConstraints:
    """The graph as seen by the images of one batch, at the moment it is first looked at.

    Give it to a `Pool` of the batch's own embeddings; every strategy then works inside
    the batch, as the papers do, and `in_collection` turns the questions back.

    Parameters
    ----------
    graph : ConstraintGraph
        Over the whole collection.
    indexes : array of shape (b,)
        The images of the batch; everything here counts them from 0.
    """

    graph: ConstraintGraph
    indexes: Indexes

    @property
    def n_images(self) -> int:
        """How many images the batch has."""
        return len(self.indexes)

    @cached_property
    def bad_images(self) -> Collection[int]:
        """The bad images of the batch."""
        is_bad = np.isin(self.indexes, list(self.graph.bad_images))
        return frozenset(np.flatnonzero(is_bad).tolist())

    @cached_property
    def matrix(self) -> Relations:
        """What is given or implied within the batch, (b, b), zero diagonal."""
        return self.graph.relations(self.indexes)

    def pair_relations(self, pairs: Pairs) -> Relations:
        """Return what is given or implied of each pair of the batch."""
        return self.matrix[pairs[:, 0], pairs[:, 1]]

    def groups(self) -> Indexes:
        """Return the group of each image of the batch: its first member."""
        is_same = (self.matrix == Relation.SAME) | np.eye(self.n_images, dtype=bool)
        first: Indexes = is_same.argmax(axis=1)
        return first

    def apart(self) -> Pairs:
        """Return the pairs of groups known to be different."""
        groups = self.groups()
        is_first = groups == np.arange(self.n_images)  # one row for each group is enough
        is_apart = np.triu(self.matrix == Relation.DIFFERENT) & is_first & is_first[:, None]
        return np.argwhere(is_apart)

    def in_batch(self, pairs: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        """Return the pairs of the collection that lie in the batch, counted from 0."""
        place = {image: position for position, image in enumerate(self.indexes.tolist())}
        inside = ((place[i], place[j]) for i, j in pairs if i in place and j in place)
        return frozenset((min(pair), max(pair)) for pair in inside)

    def in_collection(self, pairs: Pairs) -> Pairs:
        """Return pairs of the batch as sorted pairs of the collection."""
        return np.sort(self.indexes[pairs], axis=1)
