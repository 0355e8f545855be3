"""IDFD: instance discrimination with a memory bank, decorrelated columns, then k-means."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Prediction, Questioner, State
from likewise.nn.training import generator
from likewise.types import Floats, Indexes
from likewise_bench.baselines.network_baseline import TWO_VIEW_PLAN, NetworkBaseline

_MOMENTUM = 0.5


@dataclass(eq=False, repr=False, kw_only=True)
class IDFD(NetworkBaseline):
    r"""Instance discrimination and feature decorrelation: unsupervised, asks no questions.

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
        bank = MemoryBank(len(data), self._config.n_projection, rng, _MOMENTUM)
        objective = IDFDObjective(bank, s.temperature, s.decorrelation_temperature)
        return self._network_learner(data, self._cluster_network(), objective), NoQuestions()


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
