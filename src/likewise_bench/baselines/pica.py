"""PICA: clusters that overlap as little as possible, over whole batches."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise_bench.baselines.network_baseline import TWO_VIEW_PLAN, NetworkBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class PICA(NetworkBaseline):
    r"""Partition confidence maximisation: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    balance : float
        :math:`\lambda`, weight of the cluster entropy.
    encoder : str or Encoder
        Embeds images when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the images themselves, from scratch.
    architecture : NetworkConfig, optional
    plan : TrainingPlan, optional
    random_state : int, optional

    Notes
    -----
    J. Huang, S. Gong, X. Zhu: *Deep semantic clustering by partition confidence maximisation*.
    CVPR 2020. Column k of the assignments of a batch is the assignment vector of cluster k. With
    :math:`M_{kl}` the cosine of column k of one view and column l of the other,

    .. math:: L = -\tfrac1K \sum_k \log \frac{e^{M_{kk}}}{\sum_l e^{M_{kl}}}
              + \lambda (\log K - H(\bar p)), \qquad \lambda = 2:

    clusters that do not overlap, none of them empty.

    Choices. Adam, batches of 256 as in the paper; 1e-3 instead of 1e-4, since there are 40 epochs
    of a small network on vectors instead of 200 of a ResNet-34. The cluster entropy is of both
    views together and measured from its maximum, so that it is 0 at equal sizes. One head instead
    of the paper's selection among several. *Fidelity:* the paper's table is on images;
    ``backbone=`` trains on them.

    Published property: the most confident partition is nearly one-hot and of equal sizes.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TWO_VIEW_PLAN

    balance: float = 2.0

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        objective = PICAObjective(self.settings_.balance)
        return self._network_learner(data, self._cluster_network(), objective), NoQuestions()


class PICAObjective(Objective):
    """Partition confidence and cluster entropy; `balance` is the weight of the latter."""

    def __init__(self, balance: float) -> None:
        self.balance = balance

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return both terms."""
        a, b = batch.views
        return {
            "confidence": partition_confidence_loss(a.p, b.p),
            "balance": self.balance * cluster_entropy_loss(a.p, b.p, pooled=True),
        }


def partition_confidence_loss(p_a: Tensor, p_b: Tensor) -> Tensor:
    """Return PICA's loss: the overlap of different columns of two assignments ``(n, k)``."""
    cosine = F.normalize(p_a, dim=0).T @ F.normalize(p_b, dim=0)  # (k, k)
    return F.cross_entropy(cosine, torch.arange(len(cosine), device=cosine.device))
