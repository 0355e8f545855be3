"""What choices say of clusters, image by image, and the losses they make."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from likewise.estimators.kernel.training_set import LabeledGroups

Indexes = npt.NDArray[np.intp]
NOBODY = -1
_TINY = 1e-8


@dataclass(frozen=True)
class Feedback:
    """Which cluster an image is in, and in which it is not.

    Parameters
    ----------
    chosen : array of shape (n,)
        Cluster of each image that answers place, else -1.
    refused : array of shape (n, k)
        Clusters that answers exclude.
    """

    chosen: Indexes
    refused: npt.NDArray[np.bool_]

    @property
    def images(self) -> Indexes:
        """Return the images of which something is said."""
        return np.flatnonzero((self.chosen != NOBODY) | self.refused.any(axis=1))

    def is_told(self, indexes: Indexes) -> Tensor:
        """Return which images of a batch something is said of."""
        told = (self.chosen[indexes] != NOBODY) | self.refused[indexes].any(axis=1)
        return torch.from_numpy(told)

    def terms(self, indexes: Indexes, p: Tensor) -> dict[str, Tensor]:
        """Return the positive and the negative loss of a batch with assignments `p`."""
        chosen = torch.from_numpy(self.chosen[indexes]).to(p.device)
        refused = torch.from_numpy(self.refused[indexes]).to(p.device)
        is_chosen = chosen != NOBODY
        terms = {"positive": 0 * p.sum()}
        if is_chosen.any():
            own = p[is_chosen, chosen[is_chosen]]
            terms["positive"] = -own.clamp_min(_TINY).log().mean()
        if refused.any():
            terms["negative"] = -(1 - p[refused]).clamp_min(_TINY).log().mean()
        return terms

    def arrays(self) -> dict[str, Any]:
        """Return everything, by name."""
        return {f"feedback.{f.name}": getattr(self, f.name) for f in fields(self)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any]) -> Self | None:
        """Take back what `arrays` returned, if it is there."""
        names = [f.name for f in fields(cls)]
        if f"feedback.{names[0]}" not in arrays:
            return None
        return cls(**{name: arrays[f"feedback.{name}"] for name in names})


def feedback_of(seeds: LabeledGroups, columns: Indexes, n_clusters: int) -> Feedback:
    """Return what is known, in the words of clusters.

    Parameters
    ----------
    seeds : Seeds
    columns : array of shape (n_classes,)
        The cluster of each class.
    n_clusters : int
    """
    is_placed = seeds.classes >= 0
    chosen = np.full(len(seeds.classes), NOBODY, dtype=np.intp)
    chosen[is_placed] = columns[seeds.classes[is_placed]]
    refused = np.zeros((len(chosen), n_clusters), dtype=bool)
    for images, classes in seeds.unsettled:
        refused[np.ix_(images, columns[sorted(classes)])] = True
    return Feedback(chosen, refused)
