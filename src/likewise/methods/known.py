"""What is known of a batch: answers, what follows from them, and the model's own guesses."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from likewise.constraints.graph import ConstraintGraph
from likewise.constraints.question import Relation
from likewise.methods.network import View

Indexes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Known:
    """The relations of one batch.

    Parameters
    ----------
    relations : Tensor of shape (n, n), int8
        Given and implied; zero diagonal.
    guesses : Tensor of shape (n, n), int8
        The model's own (label extension), only where nothing is given or implied.
    """

    relations: Tensor
    guesses: Tensor

    @property
    def all(self) -> Tensor:
        """Return both together."""
        return self.relations + self.guesses


def known_of(graph: ConstraintGraph, indexes: Indexes, device: torch.device) -> Known:
    """Return what `graph` says of a batch."""
    given = graph.relations(indexes)
    both = graph.relations(indexes, pseudo=True)
    guesses = np.where(given == 0, both, 0).astype(np.int8)
    return Known(torch.from_numpy(given).to(device), torch.from_numpy(guesses).to(device))


def extend(
    graph: ConstraintGraph, indexes: Indexes, a: View, b: View, *, threshold: float
) -> tuple[int, int] | None:
    r"""Guess that one confident pair of the batch is the same; return it, if there is one.

    Notes
    -----
    Label extension: among pairs of which nothing is known, with the same
    argmax, both largest probabilities above `threshold` and mean similarity of
    the two views above it too, the most similar one becomes a guess, in a
    layer apart from all answers.

    Fidelity: [OCC]_ and [PCL]_ print no threshold; .9999 is PCL's public code,
    which has the extension switched off.
    """
    with torch.no_grad():
        similarity = (a.z @ a.z.T + b.z @ b.z.T) / 2
        confidence, cluster = a.p.max(dim=1)
        sure = confidence > threshold
        fits = sure[:, None] & sure[None, :] & (cluster[:, None] == cluster[None, :])
        unknown = torch.from_numpy(graph.relations(indexes, pseudo=True) == 0).to(fits.device)
        fits &= unknown & (similarity > threshold)
        fits &= torch.ones_like(fits).triu(1)
        if not fits.any():
            return None
        best = int(torch.where(fits, similarity, -torch.inf).argmax())
    i, j = int(indexes[best // len(indexes)]), int(indexes[best % len(indexes)])
    graph.add_pseudo(min(i, j), max(i, j), Relation.SAME)
    return i, j
