"""TOD: labels for the images whose output changed most between two rounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from likewise.constraints.question import Question
from likewise.estimators.data import Data
from likewise.estimators.deep.dsac_targets import labels_of
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import EmbeddingNetwork
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, Prediction, QueryState, Questioner, State
from likewise.estimators.questioners import check_open, closed_images, unit_rows
from likewise.random_streams import stream
from likewise.types import Floats, Indexes
from likewise_bench.baselines.network_baseline import NetworkBaseline


@dataclass(eq=False, repr=False, kw_only=True)
class TOD(NetworkBaseline):
    r"""Temporal output discrepancy: asks for labels where the output of the network changed most.

    Parameters
    ----------
    n_clusters : int
        Classes; a class that no label names yet keeps its column.
    weight : float
        Of the agreement with the previous round, over all images.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. Labels are asked for between rounds.

    Notes
    -----
    S. Huang, T. Wang, H. Xiong, J. Huan, D. Dou: *Semi-supervised active learning with temporal
    output discrepancy*. ICCV 2021; the origin of OCC's CSD, which compares similarities of pairs
    where this compares outputs of images. With f_c the network after round c,

    .. math:: D(x) = \|f_c(x) - f_{c-1}(x)\|

    is a lower bound of the loss of an image that needs no label: the images of largest D are
    labelled next. Training adds :math:`\lambda \|f(x) - f_{c-1}(x)\|^2` over images without a
    label.

    Choices. f are class probabilities. The first labels are random, as in the paper. Half of
    every batch are labelled images, since a person gives a hundred labels, not thousands.
    *Fidelity:* the paper's earlier network is a moving average; here its outputs of the previous
    round are kept, one row an image. Before any label there is no loss to train with, and
    clusters are those of k-means on the untrained embedding, as in `DSAC`. Must-links and
    cannot-links are satisfied by `labels_`, but the network does not learn from them.

    Published property: D is larger where the loss is larger.
    """

    asks: ClassVar[tuple[str, ...]] = ("label",)
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        n_rounds=5, epochs_per_round=15, batch_size=256
    )

    weight: float = 0.1

    @property
    def discrepancy_(self) -> Floats:
        """Return D of every image, (n,); zero before the first training."""
        check_is_fitted(self, "labels_")
        learner = self.learner_
        assert isinstance(learner, NetworkLearner)
        return self._objective.discrepancy(learner.forward_all().probabilities)

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = partial(
            EmbeddingNetwork, n_embedding=self._config.n_projection, n_classes=s.n_clusters
        )
        self._objective = TODObjective(s.weight)
        learner = self._network_learner(data, network, self._objective)
        return learner, TODQuestioner(self._objective)


class TODObjective(Objective):
    """Cross-entropy of labelled images, and agreement with the outputs of the previous round.

    Parameters
    ----------
    weight : float
        Of the agreement.
    """

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.classes: Indexes | None = None  # of each image, -1 if it has no label
        self._earlier: Floats | None = None  # outputs of all images, one round ago
        self._centroids: Floats | None = None

    @property
    def has_labels(self) -> bool:
        """Return whether there were labels at the last training."""
        return self._earlier is not None and self._centroids is None

    def discrepancy(self, probabilities: Floats) -> Floats:
        """Return how far outputs are from those of the previous round; zero without one."""
        if self._earlier is None:
            return np.zeros(len(probabilities), dtype=np.float32)
        distance: Floats = np.linalg.norm(probabilities - self._earlier, axis=1)
        return distance

    def begin_training(self, learner: NetworkLearner) -> None:
        """Keep the outputs of the previous round, and collect the labels."""
        self.classes = labels_of(learner.constraints, learner.n_clusters)
        self._earlier = learner.forward_all().probabilities

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Collect the labels, if an interrupted training continues."""
        if self.classes is None:
            self.classes = labels_of(learner.constraints, learner.n_clusters)

    def batches(self, learner: NetworkLearner) -> Iterator[Indexes]:
        """Yield batches, up to half of each labelled images."""
        assert self.classes is not None  # see `begin_epoch`
        labelled = np.flatnonzero(self.classes >= 0)
        rng = stream(learner.seed, "labelled", learner.epoch)
        for batch in learner.sample_batches():
            some = rng.permutation(labelled)[: max(1, len(batch) // 2)]
            yield np.concatenate([some, batch])[: len(batch)]

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the agreement, and the cross-entropy if there are labels in the batch."""
        output, network = batch.plain, batch.network
        assert self.classes is not None  # see `begin_epoch`
        assert self._earlier is not None
        assert isinstance(network, EmbeddingNetwork)
        labels = torch.from_numpy(self.classes[batch.indexes]).to(output.p.device)
        earlier = torch.from_numpy(self._earlier[batch.indexes]).to(output.p.device)
        changed = (output.p - earlier).square().sum(dim=1)
        terms = {"discrepancy": self.weight * changed.mean()}
        if (labels >= 0).any():
            log_p = network.classifier(output.z).log_softmax(dim=1)
            terms["class"] = F.nll_loss(log_p, labels, ignore_index=-1)
        return terms

    def end_training(self, learner: NetworkLearner) -> None:
        """Without labels: run k-means on the embeddings."""
        assert self.classes is not None  # see `begin_epoch`
        rows = unit_rows(learner.forward_all().embeddings)
        self._centroids = None
        if not (self.classes >= 0).any():
            self._centroids = fit_centroids(rows, learner.n_clusters, learner.seed)

    def predict(self, prediction: Prediction) -> Prediction:
        """Return unit embeddings, and without labels soft assignments to the centroids."""
        rows, probabilities = unit_rows(prediction.embeddings), prediction.probabilities
        if self._centroids is not None:
            probabilities = cosine_soft_assign(rows, self._centroids)
        return prediction._replace(embeddings=rows, probabilities=probabilities)

    def get_state(self) -> State:
        """Return centroids and earlier outputs."""
        state = {"centres": self._centroids, "earlier": self._earlier}
        return {name: array for name, array in state.items() if array is not None}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self._centroids, self._earlier = state.get("centres"), state.get("earlier")


class TODQuestioner(Questioner):
    """Ask for labels where the output changed most; at random before the first label.

    Parameters
    ----------
    objective : TODObjective
    """

    def __init__(self, objective: TODObjective) -> None:
        self._objective, self._n_calls = objective, 0

    def propose(self, n: int, state: QueryState, *, allow_fewer: bool = False) -> list[Question]:
        """Return label questions.

        Raises
        ------
        PoolExhaustedError
            If fewer images have no label, unless `allow_fewer`.
        """
        if not allow_fewer:
            check_open(state.constraints, n)
        open_images = np.flatnonzero(~closed_images(state.constraints))
        order = stream(state.seed, "label at random", self._n_calls).permutation(open_images)
        self._n_calls += 1
        if self._objective.has_labels:
            raw = state.probabilities[:, np.argsort(state.columns)]
            discrepancy = self._objective.discrepancy(raw)
            order = order[np.argsort(-discrepancy[order], kind="stable")]
        return [Question.label(int(image)) for image in order[:n]]

    def get_state(self) -> State:
        """Return the number of calls."""
        return {"n_calls": np.array(self._n_calls)}

    def set_state(self, state: State) -> None:
        """Restore what `get_state` returned."""
        self._n_calls = int(state["n_calls"])
