"""GCC: contrastive clustering whose positives are neighbours in a graph of all images."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.two_views import Bank, TwoViewsRival
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.nn.training import generator
from likewise.seeds import stream

_MOMENTUM = 0.9


@dataclass(eq=False, repr=False)
class GCC(TrainingParameters, TwoViewsRival):
    r"""Graph contrastive clustering: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    n_neighbours : int
        k of the graph.
    temperature : float
        :math:`\tau`, of the projections.
    cluster_temperature : float
        Of the assignment columns.
    balance : float
        Weight of the entropy of cluster sizes.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    H. Zhong, J. Wu, C. Chen, J. Huang, M. Deng, L. Nie, Z. Lin, X.-S. Hua: *Graph contrastive
    clustering*. ICCV 2021. A moving average of the projections of all images gives, in every
    epoch, a graph of the k = 5 nearest neighbours. Two contrasts use it: of representations,
    where neighbours in the batch are further positives inside the logarithm; and of assignments,
    where the clusters of a batch are contrasted with the clusters of a random neighbour of each
    of its images. Cluster sizes are balanced with weight 2.

    Choices. The first nt_xent is `occ_contrastive` of this project with the graph in place of
    answers, at temperature 0.1 and weight 1: the paper's graph Laplacian, divided by degrees,
    has equal weights in a graph of k neighbours. *Inferred:* how many neighbours meet in a batch
    is left to chance in the paper, and here; the moving average keeps 0.9 a visit.

    Published property: with neighbours as positives, neighbours end in one cluster more often. No
    test says so of ours: on made vectors it depends on the data and on the size of batches.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    n_neighbours: int = 5
    temperature: float = 0.1
    cluster_temperature: float = 1.0
    balance: float = 2.0

    def _build(self) -> None:
        super()._build()
        width = self._settings.architecture.n_projection
        self._average = Bank(len(self._source), width, generator(self._seed, "bank"), _MOMENTUM)

    def _train_one_epoch(self) -> None:
        if self._epoch == 0:
            self._average.rows = torch.from_numpy(self._plain_views()[0])
        self._nearest = self._average.neighbours(self._settings.n_neighbours)
        super()._train_one_epoch()

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        s = self._settings
        indexes, share = self._shared(indexes)
        a, b = self._look_twice(number, indexes, share)
        near = self._look_twice(number, self._a_neighbour(number, indexes), share)[1]
        self._count(a)
        self._average.move(indexes, F.normalize(a.z + b.z, dim=1))
        joined = self._joined(indexes).to(a.z.device)
        return {
            "instance": occ_contrastive(a.z, b.z, joined, weight=1.0, temperature=s.temperature),
            "cluster": nt_xent(a.p.T, near.p.T, temperature=s.cluster_temperature),
            "balance": s.balance * cluster_entropy_loss(a.p, near.p, pooled=True),
        }

    def _a_neighbour(self, number: int, indexes: Indexes) -> Indexes:
        """Return a random neighbour of each image of a batch."""
        rng = stream(self._seed, "neighbours", self._epoch, number)
        k = self._nearest.shape[1]
        if k == 0:
            return indexes
        found: Indexes = self._nearest[indexes, rng.integers(k, size=len(indexes))]
        return found

    def _joined(self, indexes: Indexes) -> Tensor:
        """Return which images of a batch are neighbours, ``(b, b)``: 1 or 0."""
        near = torch.from_numpy(self._nearest[indexes])  # (b, k)
        images = torch.from_numpy(indexes)
        joined = (near[:, :, None] == images).any(dim=1)
        joined = joined | joined.T
        return joined.fill_diagonal_(False).to(torch.int8)

    def _extra_arrays(self) -> dict[str, Any]:
        return {"average": self._average.rows.numpy()}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        self._average.rows = torch.from_numpy(arrays["average"])
