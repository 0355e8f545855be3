"""SPICE: features first, then a head taught by prototypes, then by its reliable images."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.deep.networks import ClusterNetwork, NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.two_views import TwoViewsRival
from likewise.methods.shared_parameters import TrainingParameters
from likewise.nn.losses.contrastive import nt_xent
from likewise.progress import Progress

NOBODY = -1


@dataclass(eq=False, repr=False)
class SPICE(TrainingParameters, TwoViewsRival):
    r"""Semantic pseudo-labelling for image clustering: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    temperature : float
        Of the nt_xent of the first stage.
    confident : float
        Share of an even cluster that makes its prototype.
    reliable : float
        Share of an image's neighbours that must agree with it, in the third stage.
    n_neighbours : int
        How many are looked at for that.
    encoder, backbone, architecture, plan, random_state
        As in `PICA`. The plan's warm-up epochs are the first stage; of the others, two thirds
        are the second and the rest the third.

    Notes
    -----
    C. Niu, H. Shan, G. Wang: *SPICE: semantic pseudo-labeling for image clustering*. IEEE TIP
    2022. Three stages. (1) Features are trained by nt_xent of views. (2) They are held fixed; in
    every epoch the surest images of each cluster give its prototype, the n / K images nearest to a
    prototype get its label (an image may get several or none), and the head learns
    the labels on random views, by the cross-entropy of a softmax of its softmax, which
    forbids certainty too early. (3) An image is reliable if its neighbours have its label;
    reliable images teach as if labelled, all others by agreeing with themselves where sure.

    Choices. The first stage is the nt_xent of `CC` on a projection that the head shares no
    layers with. The head begins at the clusters k-means finds among the features, since with the
    few images of a desk collection random heads often merge clusters. *Fidelity:* the paper
    trains ten heads and keeps the one of least loss; its third stage is FixMatch on pictures, of
    which this is the loss.

    Published property: pseudo-labels are balanced by construction, n / K a cluster.
    """

    network_: ClusterNetwork = field(init=False)
    default_plan: ClassVar[TrainingPlan] = TrainingPlan(
        warmup_epochs=20, epochs_per_round=24, batch_size=256
    )
    asks: ClassVar[tuple[str, ...]] = ()

    n_clusters: int = 8
    _: KW_ONLY
    temperature: float = 0.5
    confident: float = 0.5
    reliable: float = 0.95
    n_neighbours: int = 10

    @property
    def _stage(self) -> int:
        plan = self._plan
        done = self._epoch - plan.warmup_epochs
        if done < 0:
            return 1
        return 2 if 3 * done < 2 * plan.n_rounds * plan.epochs_per_round else 3

    def _improve(self, n_epochs: int | None, progress: Progress) -> None:
        self._pretrain(n_epochs, progress)
        super()._improve(n_epochs, progress)

    def _train_one_epoch(self) -> None:
        if self._stage > 1:
            z, p = self._plain_views()
            if self._epoch == self._plan.warmup_epochs:
                p = first_assignments(z, self._n_clusters, self._seed)
            self._labels = prototype_labels(z, p, self._settings.confident)
            if self._stage == 3:
                is_reliable = agreement(z, p, self._settings.n_neighbours)
                self._sure = np.where(
                    is_reliable >= self._settings.reliable, p.argmax(axis=1), NOBODY
                )
        super()._train_one_epoch()

    def _step_terms(self, number: int, indexes: Indexes) -> dict[str, Tensor]:
        indexes, share = self._shared(indexes)
        a, b = self._look_twice(number, indexes, share)
        self._count(a)
        if self._stage == 1:
            return {"instance": nt_xent(a.z, b.z, temperature=self._settings.temperature)}
        if self._stage == 2:
            return {"prototypes": self._taught(a, self._labels[indexes])}
        return self._semi_supervised(a, b, self._sure[indexes])

    def _taught(self, view: NetworkOutput, labels: Indexes) -> Tensor:
        """Return the double-softmax cross-entropy of the images that have a label."""
        p = self.network_.cluster(view.features.detach())  # features are held fixed
        known = torch.from_numpy(labels).to(p.device)
        return F.cross_entropy(p, known, ignore_index=NOBODY) if (known >= 0).any() else 0 * p.sum()

    def _semi_supervised(
        self, weak: NetworkOutput, strong: NetworkOutput, labels: Indexes
    ) -> dict[str, Tensor]:
        known = torch.from_numpy(labels).to(strong.p.device)
        log_p = strong.p.clamp_min(1e-8).log()
        terms = {"agreement": 0 * log_p.sum()}
        if (known >= 0).any():
            terms["reliable"] = F.nll_loss(log_p, known, ignore_index=NOBODY)
        sure, guess = weak.p.detach().max(dim=1)
        is_guess = (known < 0) & (sure > self._settings.reliable)
        if is_guess.any():
            terms["agreement"] = F.nll_loss(log_p[is_guess], guess[is_guess])
        return terms


def first_assignments(z: Any, n_clusters: int, seed: int) -> Any:
    """Return soft assignments by k-means on unit rows."""
    from likewise.estimators.centroids import cosine_soft_assign, fit_centroids

    return cosine_soft_assign(z, fit_centroids(z, n_clusters, seed))


def prototype_labels(z: Any, p: Any, confident: float) -> Indexes:
    """Return the cluster whose prototype claims an image, -1 if none does.

    The nearest of those that do: a batch can teach one label an image.
    """
    n, k = p.shape
    n_even = max(1, n // k)
    n_sure = max(1, int(confident * n_even))
    sure = np.argsort(-p, axis=0, kind="stable")[:n_sure]  # (n_sure, k)
    prototypes = z[sure].mean(axis=0)  # (k, d)
    prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True).clip(1e-12)
    alike = z @ prototypes.T
    claimed = np.zeros((n, k), dtype=bool)
    nearest = np.argsort(-alike, axis=0, kind="stable")[:n_even]
    claimed[nearest, np.arange(k)] = True
    labels: Indexes = np.where(claimed, alike, -np.inf).argmax(axis=1)
    return np.where(claimed.any(axis=1), labels, NOBODY)


def agreement(z: Any, p: Any, n_neighbours: int) -> Any:
    """Return the share of each image's neighbours that are in its cluster."""
    labels, rows = p.argmax(axis=1), torch.from_numpy(z)
    k = min(n_neighbours, len(z) - 1)
    if k < 1:
        return np.ones(len(z))
    nearest = torch.cat([(r @ rows.T).topk(k + 1, dim=1).indices[:, 1:] for r in rows.split(2048)])
    return (labels[nearest.numpy()] == labels[:, None]).mean(axis=1)
