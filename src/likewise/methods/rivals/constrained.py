"""What constrained k-means shares: images bound together, first centres, distances, means."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph

Floats = npt.NDArray[np.float32]
Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Bound:
    """The images of which answers say something, as groups.

    Parameters
    ----------
    images : array of shape (m,)
    place : array of shape (m,)
        The group of each of these images, from 0.
    apart : list of sets
        The groups that each group is known to differ from.
    """

    images: Indexes
    place: Indexes
    apart: list[set[int]]

    @property
    def sizes(self) -> Indexes:
        """Return the number of images of each group."""
        return np.bincount(self.place, minlength=len(self.apart))

    def sums(self, values: Floats) -> npt.NDArray[np.float64]:
        """Return the sum of the rows of each group; `values` has a row for every image of all."""
        columns = values[self.images].T
        sums = [np.bincount(self.place, column, minlength=len(self.apart)) for column in columns]
        return np.stack(sums, axis=1)


def bound_images(graph: ConstraintGraph) -> Bound:
    """Return the groups that hold several images, or are known to differ from another."""
    groups, apart = graph.groups(), graph.cannot_links()
    is_bound = np.bincount(groups, minlength=graph.n_images) > 1
    is_bound[apart] = True
    images = np.flatnonzero(is_bound[groups])
    members, place = np.unique(groups[images], return_inverse=True)
    rivals: list[set[int]] = [set() for _ in members]
    number = {int(group): position for position, group in enumerate(members)}
    for one, other in apart.tolist():
        rivals[number[one]].add(number[other])
        rivals[number[other]].add(number[one])
    return Bound(images, place, rivals)


def spread_centres(rows: Floats, n: int, rng: np.random.Generator, known: Floats) -> Floats:
    """Return `known` centres and images far from them, `n` in all: k-means++ from a start."""
    centres = list(known[:n])
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


def squared(rows: Floats, centres: Floats) -> Floats:
    """Return squared distances ``(n, k)``, by products."""
    found: Floats = (
        np.square(rows).sum(axis=1)[:, None] - 2 * rows @ centres.T + np.square(centres).sum(axis=1)
    ).clip(min=0)
    return found


def moved(rows: Floats, clusters: Indexes, centres: Floats) -> Floats:
    """Return the mean of each cluster; one without images stays where it is."""
    is_member = np.zeros((len(centres), len(rows)), dtype=np.float32)
    is_member[clusters, np.arange(len(rows))] = 1
    sizes = is_member.sum(axis=1, keepdims=True)
    return np.where(sizes > 0, (is_member @ rows) / sizes.clip(min=1), centres)
