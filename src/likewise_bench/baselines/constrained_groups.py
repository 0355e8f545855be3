"""Shared by the constrained k-means variants: must-link groups, k-means++, distances, means."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.types import Floats, Indexes


@dataclass(frozen=True)
class ConstrainedGroups:
    """The images in at least one constraint, as must-link groups.

    Parameters
    ----------
    images : array of shape (m,)
    group : array of shape (m,)
        The must-link group of each of these images, from 0.
    cannot_links : list of sets
        The groups that each group has a cannot-link with.
    """

    images: Indexes
    group: Indexes
    cannot_links: list[set[int]]

    @property
    def sizes(self) -> Indexes:
        """Return the number of images of each group."""
        return np.bincount(self.group, minlength=len(self.cannot_links))

    def sums(self, values: Floats) -> npt.NDArray[np.float64]:
        """Return the sum of the rows of each group; `values` has a row for every image."""
        n_groups = len(self.cannot_links)
        sums = [np.bincount(self.group, column, n_groups) for column in values[self.images].T]
        return np.stack(sums, axis=1)


def constrained_groups(graph: ConstraintGraph) -> ConstrainedGroups:
    """Return the groups of several images, or with a cannot-link to another group."""
    groups, cannot_links = graph.groups(), graph.cannot_links()
    is_constrained = np.bincount(groups, minlength=graph.n_images) > 1
    is_constrained[cannot_links] = True
    images = np.flatnonzero(is_constrained[groups])
    ids, group = np.unique(groups[images], return_inverse=True)
    others: list[set[int]] = [set() for _ in ids]
    number = {int(group_id): position for position, group_id in enumerate(ids)}
    for one, other in cannot_links.tolist():
        others[number[one]].add(number[other])
        others[number[other]].add(number[one])
    return ConstrainedGroups(images, group, others)


def kmeans_plusplus(rows: Floats, n: int, rng: np.random.Generator, initial: Floats) -> Floats:
    """Return `n` centres: the `initial` ones, then rows drawn by k-means++.

    scikit-learn's `kmeans_plusplus` cannot continue from given centres.
    """
    centres = list(initial[:n])
    if not centres:
        centres.append(rows[rng.integers(len(rows))])
    nearest = np.min([np.square(rows - centre).sum(axis=1) for centre in centres], axis=0)
    while len(centres) < n:
        total = float(nearest.sum(dtype=np.float64))
        chance = nearest / total if total > 0 else np.full(len(rows), 1 / len(rows))
        chance = chance.astype(np.float64) / chance.sum(dtype=np.float64)
        centres.append(rows[rng.choice(len(rows), p=chance)])
        nearest = np.minimum(nearest, np.square(rows - centres[-1]).sum(axis=1))
    return np.stack(centres)


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Return squared distances ``(n, k)``, computed by one matrix product."""
    distances: Floats = (
        np.square(rows).sum(axis=1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(axis=1)
    ).clip(min=0)
    return distances


def updated_centres(rows: Floats, clusters: Indexes, centres: Floats) -> Floats:
    """Return the mean of each cluster; the centre of an empty cluster is kept."""
    is_member = np.zeros((len(centres), len(rows)), dtype=np.float32)
    is_member[clusters, np.arange(len(rows))] = 1
    sizes = is_member.sum(axis=1, keepdims=True)
    return np.where(sizes > 0, (is_member @ rows) / sizes.clip(min=1), centres)
