"""PICA: clusters as different from each other as they can be, over whole batches."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.relations import BatchRelations
from likewise.methods.rivals.two_views import TwoViewsRival
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.losses.clustering import cluster_entropy_loss


@dataclass(eq=False, repr=False)
class PICA(TrainingParameters, TwoViewsRival, InteractiveClusterer):
    r"""Partition confidence maximisation: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    balance : float
        :math:`\lambda`, weight of the entropy of cluster sizes.
    encoder : str or Encoder
        How pictures become vectors when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the pictures themselves, from scratch.
    architecture : Architecture, optional
    plan : Plan, optional
    random_state : int, optional

    Notes
    -----
    J. Huang, S. Gong, X. Zhu: *Deep semantic clustering by partition confidence maximisation*.
    CVPR 2020. Column k of the assignments of a batch says who is in cluster k. With
    :math:`M_{kl}` the cosine of column k of one view and column l of the other,

    .. math:: L = -\tfrac1K \sum_k \log \frac{e^{M_{kk}}}{\sum_l e^{M_{kl}}}
              + \lambda (\log K - H(\bar p)), \qquad \lambda = 2:

    clusters that share nobody, none of them empty.

    Choices. Adam, batches of 256 as in the paper; 1e-3 instead of 1e-4, since there are 40 epochs
    of a small network on ready vectors instead of 200 of a ResNet-34. The size entropy is of both
    views together and counted from its largest value, so that it is 0 at equal sizes. One head
    instead of the paper's choice among several. *Fidelity:* the paper's table is on pictures;
    ``backbone=`` trains on them.

    Published property: the most confident partition is nearly one-hot and of equal sizes.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    balance: float = 2.0

    def _loss_terms(
        self, a: NetworkOutput, b: NetworkOutput, known: BatchRelations
    ) -> dict[str, Tensor]:
        return {
            "confidence": partition_uncertainty(a.p, b.p),
            "balance": self._settings.balance * cluster_entropy_loss(a.p, b.p, pooled=True),
        }


def partition_uncertainty(p_a: Tensor, p_b: Tensor) -> Tensor:
    """Return how much the columns of two assignments ``(n, k)`` are alike that should not be."""
    cosine = F.normalize(p_a, dim=0).T @ F.normalize(p_b, dim=0)  # (k, k)
    return F.cross_entropy(cosine, torch.arange(len(cosine), device=cosine.device))
