"""SPICE: features, then a head trained by prototypes' pseudo-labels, then by reliable images."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.learner import NetworkLearner
from likewise.estimators.deep.networks import ClusterNetwork, NetworkOutput
from likewise.estimators.deep.objective import Batch, Objective
from likewise.estimators.kmeans import cosine_soft_assign, fit_centroids
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner
from likewise.nn.losses.contrastive import nt_xent
from likewise.types import Floats, Indexes
from likewise_bench.baselines.network_baseline import NetworkBaseline

NO_LABEL = -1


@dataclass(eq=False, repr=False, kw_only=True)
class SPICE(NetworkBaseline):
    r"""Semantic pseudo-labelling for image clustering: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        Of NT-Xent in the first stage.
    confident : float
        Share of n / K images, the most confident ones, whose mean is the prototype.
    reliable : float
        Share of an image's neighbours that must have its label, in the third stage.
    n_neighbours : int
        Number of these neighbours.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. The plan's warm-up epochs are the first stage; of the others, two thirds
        are the second and the rest the third.

    Notes
    -----
    C. Niu, H. Shan, G. Wang: *SPICE: semantic pseudo-labeling for image clustering*. IEEE TIP
    2022. Three stages. (1) Features are trained by NT-Xent of two views. (2) They are held fixed;
    in every epoch the most confident images of each cluster give its prototype, the n / K images
    nearest to a prototype get its label (an image may get several or none), and the head is
    trained with these labels on random views, by the cross-entropy of a softmax of its softmax,
    which limits early confidence. (3) An image is reliable if its neighbours have its label;
    reliable images are trained as if labelled, all others by consistency where confident.

    Choices. The first stage is the instance loss of `CC` on a projection that shares no layers
    with the head. The head is initialised at the clusters of k-means on the features, since with
    the few images of a personal collection random heads often merge clusters. *Fidelity:* the
    paper trains ten heads and keeps the one of least loss; its third stage is FixMatch on images,
    of which this is the loss.

    Published property: pseudo-labels are balanced by construction, n / K a cluster.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        warmup_epochs=20, epochs_per_round=24, batch_size=256
    )

    temperature: float = 0.5
    confident: float = 0.5
    reliable: float = 0.95
    n_neighbours: int = 10

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        objective = SPICEObjective(s.temperature, s.confident, s.reliable, s.n_neighbours)
        return self._network_learner(data, self._cluster_network(), objective), NoQuestions()


class SPICEObjective(Objective):
    """The losses of the three stages; pseudo-labels are made before each epoch.

    Parameters
    ----------
    temperature, confident, reliable : float
    n_neighbours : int
    """

    pretrains = True

    def __init__(
        self, temperature: float, confident: float, reliable: float, n_neighbours: int
    ) -> None:
        self.temperature, self.confident = temperature, confident
        self.reliable, self.n_neighbours = reliable, n_neighbours

    def begin_epoch(self, learner: NetworkLearner) -> None:
        """Make the pseudo-labels of the epoch."""
        stage = _stage(learner)
        if stage == 1:
            return
        z, p = learner.forward_all()[:2]
        if learner.epoch == learner.plan.warmup_epochs:
            centroids = fit_centroids(z, learner.n_clusters, learner.seed)
            p = cosine_soft_assign(z, centroids)
        self._labels = prototype_labels(z, p, self.confident)
        if stage == 3:
            is_reliable = neighbour_agreement(z, p, self.n_neighbours) >= self.reliable
            self._reliable_labels = np.where(is_reliable, p.argmax(axis=1), NO_LABEL)

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return the terms of the present stage."""
        a, b = batch.views
        stage = _stage(batch.learner)
        if stage == 1:
            return {"instance": nt_xent(a.z, b.z, temperature=self.temperature)}
        if stage == 2:
            return {"prototypes": self._prototype_loss(batch, a)}
        return self._semi_supervised(a, b, self._reliable_labels[batch.indexes])

    def _prototype_loss(self, batch: Batch, view: NetworkOutput) -> Tensor:
        """Return the double-softmax cross-entropy of the images with a label."""
        assert isinstance(batch.network, ClusterNetwork)
        p = batch.network.cluster(view.features.detach())  # features are held fixed
        labels = torch.from_numpy(self._labels[batch.indexes]).to(p.device)
        has_label = bool((labels >= 0).any())
        return F.cross_entropy(p, labels, ignore_index=NO_LABEL) if has_label else 0 * p.sum()

    def _semi_supervised(
        self, weak: NetworkOutput, strong: NetworkOutput, reliable_labels: Indexes
    ) -> dict[str, Tensor]:
        labels = torch.from_numpy(reliable_labels).to(strong.p.device)
        log_p = strong.p.clamp_min(1e-8).log()
        terms = {"agreement": 0 * log_p.sum()}
        if (labels >= 0).any():
            terms["reliable"] = F.nll_loss(log_p, labels, ignore_index=NO_LABEL)
        confidence, guess = weak.p.detach().max(dim=1)
        is_guess = (labels < 0) & (confidence > self.reliable)
        if is_guess.any():
            terms["agreement"] = F.nll_loss(log_p[is_guess], guess[is_guess])
        return terms


def _stage(learner: NetworkLearner) -> int:
    """Return 1 during pre-training, 2 in two thirds of the other epochs, then 3."""
    plan = learner.plan
    done = learner.epoch - plan.warmup_epochs
    if done < 0:
        return 1
    return 2 if 3 * done < 2 * plan.n_rounds * plan.epochs_per_round else 3


def prototype_labels(z: Floats, p: Floats, confident: float) -> Indexes:
    """Return the cluster whose prototype claims an image, -1 if none does.

    If several do, the nearest: in a batch, an image has one label.
    """
    n, k = p.shape
    n_even = max(1, n // k)
    n_confident = max(1, int(confident * n_even))
    most_confident = np.argsort(-p, axis=0, kind="stable")[:n_confident]  # (n_confident, k)
    prototypes = z[most_confident].mean(axis=0)  # (k, d)
    prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True).clip(1e-12)
    similarity = z @ prototypes.T
    is_claimed = np.zeros((n, k), dtype=bool)
    nearest = np.argsort(-similarity, axis=0, kind="stable")[:n_even]
    is_claimed[nearest, np.arange(k)] = True
    labels: Indexes = np.where(is_claimed, similarity, -np.inf).argmax(axis=1)
    return np.where(is_claimed.any(axis=1), labels, NO_LABEL)


def neighbour_agreement(z: Floats, p: Floats, n_neighbours: int) -> Floats:
    """Return the share of each image's neighbours that are in its cluster."""
    labels, rows = p.argmax(axis=1), torch.from_numpy(z)
    k = min(n_neighbours, len(z) - 1)
    if k < 1:
        return np.ones(len(z), dtype=np.float32)
    parts = [(r @ rows.T).topk(k + 1, dim=1).indices[:, 1:] for r in rows.split(2048)]
    nearest = torch.cat(parts).numpy()
    share: Floats = (labels[nearest] == labels[:, None]).mean(axis=1)
    return share
