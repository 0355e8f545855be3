"""SpherePair: angles that answers dictate, no anchors, then k-means on the sphere."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import torch.nn.functional as F
from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import AutoencoderNetwork, AutoencoderRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.pair_losses import angle_likelihood
from likewise.methods.shared_parameters import PairParameters, TrainingParameters

_SHARPNESS = 10.0  # of cosine similarities, as for every method read out by centres


class SphereNetwork(AutoencoderNetwork):
    """An autoencoder whose embeddings have length one."""

    def heads(self, features: Tensor, bank: Tensor | None = None) -> NetworkOutput:
        """Return unit embeddings, and assignments by cosine."""
        z = F.normalize(self.embed(features), dim=1)
        # In double precision: with so few columns, on some processors, the last digits of an
        # image's products depend on where among its companions it stands.
        cosines = z.double() @ F.normalize(self.centres, dim=1).double().T
        return NetworkOutput(features, z, (_SHARPNESS * cosines).softmax(1).to(z.dtype))


@dataclass(eq=False, repr=False)
class SpherePair(PairParameters, TrainingParameters, AutoencoderRival):
    r"""Cross-entropy of the angles of answered pairs, then k-means.

    Parameters
    ----------
    n_clusters : int
    factor : float, optional
        :math:`\omega`; "different" images need not be farther apart than :math:`\pi / \omega`.
        By default :math:`\pi / \arccos(-1 / (K - 1))`, at which K groups fit on the sphere at
        equal angles.
    reconstruction : float
        Weight of the reconstruction beside the pairs.
    strategy, candidates
        How pairs are chosen, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    *Angular constraint embedding via SpherePair loss for constrained clustering*. NeurIPS 2025.
    Clusters have no anchors while the representation is learned: with :math:`\theta` the
    angle of two embeddings, the chance of "same" is :math:`(1 + \cos \theta) / 2`, and
    for "different" pairs the angle is first scaled by :math:`\omega`, so that beyond
    :math:`\pi / \omega` nothing is left to gain. The loss is the binary cross-entropy of the
    answers, beside a reconstruction of the images; k-means on the sphere gives clusters.

    Choices. The angle is clipped at :math:`\pi` after scaling, so that the cost does not
    rise again. *Inferred:* the exact form of the likelihood and the weight of the reconstruction,
    from the paper's summary and not from its code. Without any answer it is `AE` on the sphere.

    Published property: with K groups at equal angles all answers can be kept at no cost.
    """

    places_anew: ClassVar[bool] = True

    n_clusters: int = 8
    _: KW_ONLY
    factor: float | None = None
    reconstruction: float = 0.1

    def _make_autoencoder(self, *given: Any, **widths: Any) -> SphereNetwork:
        return SphereNetwork(*given, **widths)

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        kept = self._settings.reconstruction * self._reconstruction(indexes, view.z)
        terms = {"reconstruction": kept}
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            factor = self._settings.factor or equal_angles(self._n_clusters)
            first, second = view.z[linked.first], view.z[linked.second]
            terms["pairs"] = angle_likelihood(first, second, linked.relations, factor=factor)
        return terms


def equal_angles(n_clusters: int) -> float:
    """Return the factor at which `n_clusters` directions of equal angles are far enough apart."""
    return math.pi / math.acos(-1 / (n_clusters - 1)) if n_clusters > 2 else 1.0
