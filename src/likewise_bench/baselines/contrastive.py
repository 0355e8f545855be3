"""Contrastive clustering by two views: PICA, IDFD and GCC."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.centroids import cosine_soft_assign, fit_centroids
from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner, State
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.nn.seeding import generator
from likewise.seeds import stream
from likewise.types import Floats, Indexes
from likewise_bench.baselines.network_baseline import NetworkBaseline

TWO_VIEW_PLAN = TrainingPlan(epochs_per_round=40, batch_size=256)
_IDFD_MOMENTUM = 0.5
_GCC_MOMENTUM = 0.9


@dataclass(eq=False, repr=False, kw_only=True)
class PICA(NetworkBaseline):
    r"""Partition confidence maximisation: unguided, asks nothing.

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


class MemoryBank:
    """A unit row for every image, a moving average of its projections; saved with the model.

    Parameters
    ----------
    n, width : int
    rng : torch.Generator
        Of the initial random rows.
    momentum : float
        Weight of the present row in an update.
    """

    def __init__(self, n: int, width: int, rng: torch.Generator, momentum: float) -> None:
        self.rows = F.normalize(torch.randn(n, width, generator=rng), dim=1)
        self.momentum = momentum

    @torch.no_grad()
    def update(self, indexes: Indexes, z: Tensor) -> None:
        """Move the rows of some images towards `z`, and normalise them."""
        positions = torch.from_numpy(indexes)
        mean = self.momentum * self.rows[positions] + (1 - self.momentum) * z.detach().cpu()
        self.rows[positions] = F.normalize(mean, dim=1)

    def neighbours(self, k: int) -> Indexes:
        """Return the `k` nearest other images of each image, ``(n, k)``."""
        k = min(k, len(self.rows) - 1)
        parts = []
        for part in self.rows.split(2048):
            similarity = part @ self.rows.T
            parts.append(similarity.topk(k + 1, dim=1).indices[:, 1:])
        nearest: Indexes = torch.cat(parts).numpy().astype(np.intp)
        return nearest


@dataclass(eq=False, repr=False, kw_only=True)
class IDFD(NetworkBaseline):
    r"""Instance discrimination and feature decorrelation: unguided, asks nothing.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        :math:`\tau`, of the images.
    decorrelation_temperature : float
        :math:`\tau_2`, of the columns.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    Y. Tao, K. Takagi, K. Nakata: *Clustering-friendly representation learning via instance
    discrimination and feature decorrelation*. ICLR 2021. A memory bank holds a unit row
    :math:`v_i` for every image; with :math:`z` the projections of a batch and :math:`f_l` its
    columns at length one,

    .. math:: L = -\log \frac{e^{v_i^\top z_i / \tau}}{\sum_j e^{v_j^\top z_i / \tau}}
              - \log \frac{e^{f_l^\top f_l / \tau_2}}{\sum_m e^{f_m^\top f_l / \tau_2}},

    :math:`\tau = 1`, :math:`\tau_2 = 2`. The momentum of the bank is one half. K-means on z gives
    clusters.

    Choices. Both views of a batch are used, where the paper draws one: one epoch here is two of
    its epochs. 64 columns by default instead of 128, Adam instead of SGD at 0.03 over 2,000
    epochs. The bank is in memory and saved with the model.

    Published property: columns of z are nearly uncorrelated.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TWO_VIEW_PLAN

    temperature: float = 1.0
    decorrelation_temperature: float = 2.0

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        rng = generator(self.seed_, "bank")
        bank = MemoryBank(len(data), self._config.n_projection, rng, _IDFD_MOMENTUM)
        objective = IDFDObjective(bank, s.temperature, s.decorrelation_temperature)
        return self._network_learner(data, self._cluster_network(), objective), NoQuestions()


class IDFDObjective(Objective):
    """Instance discrimination against a memory bank, and decorrelation of columns.

    Parameters
    ----------
    bank : MemoryBank
    temperature, decorrelation_temperature : float
    """

    def __init__(
        self, bank: MemoryBank, temperature: float, decorrelation_temperature: float
    ) -> None:
        self.bank, self.temperature = bank, temperature
        self.decorrelation_temperature = decorrelation_temperature
        self._centroids: Floats | None = None

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return both terms, means over the two views; then update the bank."""
        views = batch.views
        instance = [self._discrimination(batch.indexes, view) for view in views]
        columns = [decorrelation_loss(view.z, self.decorrelation_temperature) for view in views]
        self.bank.update(batch.indexes, F.normalize(views[0].z + views[1].z, dim=1))
        return {
            "instance": torch.stack(instance).mean(),
            "decorrelation": torch.stack(columns).mean(),
        }

    def _discrimination(self, indexes: Indexes, view: NetworkOutput) -> Tensor:
        similarity = view.z @ self.bank.rows.clone().to(view.z).T / self.temperature
        return F.cross_entropy(similarity, torch.from_numpy(indexes).to(similarity.device))

    def end_training(self, learner: NetworkLearner) -> None:
        """Run k-means on z."""
        z = learner.forward_all().embeddings
        self._centroids = fit_centroids(z, learner.n_clusters, learner.seed)

    def predict(self, prediction: Prediction) -> Prediction:
        """Return soft assignments to the centroids, if there are any yet."""
        if self._centroids is None:
            return prediction
        soft = cosine_soft_assign(prediction.embeddings, self._centroids)
        return prediction._replace(probabilities=soft)

    def get_state(self) -> State:
        """Return the bank and the centroids."""
        state = {"bank": self.bank.rows.numpy()}
        return state if self._centroids is None else {**state, "centres": self._centroids}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self.bank.rows = torch.from_numpy(state["bank"])
        self._centroids = state.get("centres")


def decorrelation_loss(z: Tensor, temperature: float) -> Tensor:
    """Return IDFD's loss of correlated columns of `z`."""
    columns = F.normalize(z, dim=0).T  # (d, n)
    return F.cross_entropy(
        columns @ columns.T / temperature, torch.arange(len(columns)).to(z.device)
    )


@dataclass(eq=False, repr=False, kw_only=True)
class GCC(NetworkBaseline):
    r"""Graph contrastive clustering: unguided, asks nothing.

    Parameters
    ----------
    n_clusters : int
    n_neighbours : int
        k of the k-NN graph.
    temperature : float
        :math:`\tau`, of the projections.
    cluster_temperature : float
        Of the assignment columns.
    balance : float
        Weight of the cluster entropy.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`.

    Notes
    -----
    H. Zhong, J. Wu, C. Chen, J. Huang, M. Deng, L. Nie, Z. Lin, X.-S. Hua: *Graph contrastive
    clustering*. ICCV 2021. In every epoch the k-NN graph of a moving average of the projections is
    built, k = 5. Two contrastive losses use it: of representations, where neighbours in the batch
    are further positives inside the logarithm; and of assignments, where the columns of a batch
    are contrasted with those of a random neighbour of each of its images. Cluster sizes are
    balanced with weight 2.

    Choices. The first loss is `occ_contrastive` with the graph in place of answers, at
    temperature 0.1 and weight 1: the paper's graph Laplacian, divided by degrees, has equal
    weights in a k-NN graph. *Inferred:* neither the paper nor this code controls how many
    neighbours are in the same batch; the momentum of the moving average is 0.9.

    Published property: with neighbours as positives, neighbours are in one cluster more often. No
    test checks this: on synthetic vectors it depends on the data and on the batch size.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TWO_VIEW_PLAN

    n_neighbours: int = 5
    temperature: float = 0.1
    cluster_temperature: float = 1.0
    balance: float = 2.0

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        rng = generator(self.seed_, "bank")
        average = MemoryBank(len(data), self._config.n_projection, rng, _GCC_MOMENTUM)
        objective = GCCObjective(
            average, s.n_neighbours, s.temperature, s.cluster_temperature, s.balance
        )
        return self._network_learner(data, self._cluster_network(), objective), NoQuestions()


class GCCObjective(Objective):
    """Contrastive losses with the neighbours in a k-NN graph as positives.

    Parameters
    ----------
    average : MemoryBank
        The moving average of projections from which the graph is built.
    n_neighbours : int
    temperature, cluster_temperature, balance : float
    """

    def __init__(
        self,
        average: MemoryBank,
        n_neighbours: int,
        temperature: float,
        cluster_temperature: float,
        balance: float,
    ) -> None:
        self.average, self.n_neighbours, self.balance = average, n_neighbours, balance
        self.temperature, self.cluster_temperature = temperature, cluster_temperature

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Build the graph of the epoch."""
        if learner.epoch == 0:
            self.average.rows = torch.from_numpy(learner.forward_all().embeddings)
        self.nearest = self.average.neighbours(self.n_neighbours)

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return both contrastive losses and the cluster entropy; then update the average."""
        a, b = batch.views
        neighbours = self.random_neighbours(batch.learner, batch.number, batch.indexes)
        near = Batch(batch.learner, batch.number, neighbours).views[1]
        self.average.update(batch.indexes, F.normalize(a.z + b.z, dim=1))
        joined = self.is_neighbour(batch.indexes).to(a.z.device)
        return {
            "instance": occ_contrastive(a.z, b.z, joined, weight=1.0, temperature=self.temperature),
            "cluster": nt_xent(a.p.T, near.p.T, temperature=self.cluster_temperature),
            "balance": self.balance * cluster_entropy_loss(a.p, near.p, pooled=True),
        }

    def random_neighbours(self, learner: NetworkLearner, number: int, indexes: Indexes) -> Indexes:
        """Return a random neighbour of each image of batch `number`."""
        rng = stream(learner.seed, "neighbours", learner.epoch, number)
        k = self.nearest.shape[1]
        if k == 0:
            return indexes
        drawn: Indexes = self.nearest[indexes, rng.integers(k, size=len(indexes))]
        return drawn

    def is_neighbour(self, indexes: Indexes) -> Tensor:
        """Return which images of a batch are neighbours, ``(b, b)``: 1 or 0."""
        near = torch.from_numpy(self.nearest[indexes])  # (b, k)
        images = torch.from_numpy(indexes)
        joined = (near[:, :, None] == images).any(dim=1)
        joined = joined | joined.T
        return joined.fill_diagonal_(False).to(torch.int8)

    def get_state(self) -> State:
        """Return the moving average."""
        return {"average": self.average.rows.numpy()}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self.average.rows = torch.from_numpy(state["average"])
