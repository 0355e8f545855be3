"""GCC: contrastive clustering whose positives are neighbours in a k-NN graph."""

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner, State
from likewise.nn.losses.clustering import cluster_entropy_loss
from likewise.nn.losses.contrastive import nt_xent, occ_contrastive
from likewise.nn.training import generator
from likewise.random_streams import stream
from likewise.types import Indexes
from likewise_bench.baselines.idfd import MemoryBank
from likewise_bench.baselines.network_baseline import TWO_VIEW_PLAN, NetworkBaseline

_MOMENTUM = 0.9


@dataclass(eq=False, repr=False, kw_only=True)
class GCC(NetworkBaseline):
    r"""Graph contrastive clustering: unsupervised, asks no questions.

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
        average = MemoryBank(len(data), self._config.n_projection, rng, _MOMENTUM)
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
