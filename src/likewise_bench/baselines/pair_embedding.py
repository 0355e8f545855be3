"""Embeddings trained on answered pairs: AutoEmbedder, SpherePair, and the pair losses."""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.nn.losses.contrastive import at_least_float32
from likewise.nn.losses.dsac import squared_distances
from likewise.queries.base import QueryStrategy
from likewise_bench.baselines.autoencoder import (
    AUTOENCODER_PLAN,
    AutoencoderNetwork,
    AutoencoderObjective,
    LinkedPairs,
    autoencoder_network,
)
from likewise_bench.baselines.network_baseline import NetworkBaseline

_EPSILON = 1e-6  # keeps the gradients of square roots and arc cosines finite
_SHARPNESS = 10.0  # inverse temperature of cosine similarities, as in `cosine_soft_assign`


@dataclass(eq=False, repr=False, kw_only=True)
class AutoEmbedder(NetworkBaseline):
    r"""A Siamese network that regresses the distances of answered pairs, then k-means.

    Parameters
    ----------
    n_clusters : int
    alpha : float
        Distance that cannot-linked images should have at least.
    strategy, candidates
        How pairs are selected, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    A. Ohi, M. Mridha, F. Safir, M. Hamid, M. Monowar: *AutoEmbedder: a semi-supervised DNN
    embedding system for clustering*. Knowledge-Based Systems 2020. With the clipped distance
    :math:`\min(\|z_i - z_j\|, \alpha)`, the loss is its mean squared error from 0 for must-links
    and from :math:`\alpha = 100` for cannot-links. K-means clusters z.

    Choices. The network is pre-trained as an autoencoder, where the paper starts from a network
    pre-trained on other images: here the input vectors are pre-trained, but z is not. The loss is
    divided by alpha squared. Pairs are given or implied; half of every batch are images with
    answers. Batches without a linked pair train the reconstruction, so without any answer it is
    `AE`.

    Published property: distances of answered pairs become two-valued, and k-means on z follows
    the answers.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    alpha: float = 100.0
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters)
        objective = AutoencoderObjective(
            reconstruction=1.0,
            pairs=partial(autoembedder_pair_terms, alpha=s.alpha),
            pairs_replace_reconstruction=True,
            recluster=True,
        )
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


@dataclass(eq=False, repr=False, kw_only=True)
class SpherePair(NetworkBaseline):
    r"""Cross-entropy of the angles of answered pairs, then k-means on the sphere.

    Parameters
    ----------
    n_clusters : int
    factor : float, optional
        :math:`\omega`; cannot-linked images need not be farther apart than :math:`\pi / \omega`.
        By default :math:`\pi / \arccos(-1 / (K - 1))`, at which K groups fit on the sphere at
        equal angles.
    reconstruction : float
        Weight of the reconstruction beside the pairs.
    strategy, candidates
        How pairs are selected, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    *Angular constraint embedding via SpherePair loss for constrained clustering*. NeurIPS 2025.
    Clusters have no anchors while the representation is learned: with :math:`\theta` the
    angle of two embeddings, the probability of "same" is :math:`(1 + \cos \theta) / 2`, and
    for cannot-links the angle is first scaled by :math:`\omega`, so that the loss is constant
    beyond :math:`\pi / \omega`. The loss is the binary cross-entropy of the answers, beside a
    reconstruction of the images; k-means on the sphere gives clusters.

    Choices. The angle is clipped at :math:`\pi` after scaling, so that the loss does not rise
    again. *Inferred:* the exact form of the likelihood and the weight of the reconstruction, from
    the paper's summary and not from its code. Without any answer it is `AE` on the sphere.

    Published property: with K groups at equal angles all answers can be satisfied at zero loss.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    factor: float | None = None
    reconstruction: float = 0.1
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters, SphereNetwork)
        objective = AutoencoderObjective(
            reconstruction=s.reconstruction,
            pairs=partial(spherepair_terms, factor=s.factor or equal_angle_factor(s.n_clusters)),
            recluster=True,
        )
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


class SphereNetwork(AutoencoderNetwork):
    """An autoencoder whose embeddings have length one."""

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return unit embeddings, and assignments by cosine similarity."""
        z = F.normalize(self.embed(features), dim=1)
        # In double precision: with so few columns, on some processors, the last digits of a
        # product depend on the position of the image in the batch.
        cosines = z.double() @ F.normalize(self.centres, dim=1).double().T
        return NetworkOutput(features, z, (_SHARPNESS * cosines).softmax(1).to(z.dtype))


def autoembedder_pair_terms(
    output: NetworkOutput, linked: LinkedPairs, *, alpha: float
) -> dict[str, Tensor]:
    """Return AutoEmbedder's regression of clipped distances."""
    return {"pairs": clipped_distance(*linked.of(output.z), linked.relations, limit=alpha)}


def spherepair_terms(
    output: NetworkOutput, linked: LinkedPairs, *, factor: float
) -> dict[str, Tensor]:
    """Return SpherePair's cross-entropy of angles."""
    return {"pairs": angle_likelihood(*linked.of(output.z), linked.relations, factor=factor)}


def equal_angle_factor(n_clusters: int) -> float:
    """Return the factor at which `n_clusters` directions at equal angles cost nothing."""
    return math.pi / math.acos(-1 / (n_clusters - 1)) if n_clusters > 2 else 1.0


# -- pair losses ----------------------------------------------------------------


def signed_distance(first: Tensor, second: Tensor, relations: Tensor, *, clip: float) -> Tensor:
    r"""Return SDEC's term, the mean of :math:`a_{ij} \|z_i - z_j\|^2`, a = +1 same, -1 different.

    Fidelity: the cannot-link term is clipped at `clip`; the paper's has no lower bound.
    """
    squared = squared_distances(first, second)
    return torch.where(relations > 0, squared, -squared.clamp(max=clip)).mean()


def margin_distance(first: Tensor, second: Tensor, relations: Tensor, *, margin: float) -> Tensor:
    r"""Return the margin-based contrastive loss, the mean over pairs.

    A must-link costs :math:`d^2`, a cannot-link :math:`\max(0, m - d)^2`.
    """
    squared = squared_distances(first, second)
    short = (margin - (squared + _EPSILON).sqrt()).clamp(min=0).square()
    return torch.where(relations > 0, squared, short).mean()


def clipped_distance(first: Tensor, second: Tensor, relations: Tensor, *, limit: float) -> Tensor:
    r"""Return AutoEmbedder's regression of :math:`\min(d, \alpha)` to 0 or to :math:`\alpha`.

    Divided by :math:`\alpha^2`, so that the scale of the loss does not depend on it.
    """
    distance = (squared_distances(first, second) + _EPSILON).sqrt().clamp(max=limit)
    target = torch.where(relations > 0, 0.0, limit).to(distance)
    return ((distance - target) / limit).square().mean()


def angle_likelihood(first: Tensor, second: Tensor, relations: Tensor, *, factor: float) -> Tensor:
    r"""Return SpherePair's cross-entropy of the angle between two embeddings, the mean over pairs.

    With :math:`\theta` the angle, the probability of "same" is
    :math:`s(\theta) = (1 + \cos \theta) / 2` for must-links and
    :math:`s(\min(\omega \theta, \pi))` for cannot-links: beyond :math:`\pi / \omega` a
    cannot-link costs nothing.
    """
    cosine = F.cosine_similarity(at_least_float32(first), at_least_float32(second), dim=1)
    angle = cosine.clamp(-1 + _EPSILON, 1 - _EPSILON).acos()
    near = (1 + angle.cos()) / 2
    far = (1 - (factor * angle).clamp(max=math.pi).cos()) / 2
    likelihood = torch.where(relations > 0, near, far)
    return -likelihood.clamp(min=_EPSILON).log().mean()
