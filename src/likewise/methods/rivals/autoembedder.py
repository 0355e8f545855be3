"""AutoEmbedder: distances that answers dictate, then k-means."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import AutoencoderRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.pair_losses import clipped_distance
from likewise.methods.shared_parameters import PairParameters, TrainingParameters


@dataclass(eq=False, repr=False)
class AutoEmbedder(PairParameters, TrainingParameters, AutoencoderRival):
    r"""A Siamese network that regresses distances of answered pairs, then k-means.

    Parameters
    ----------
    n_clusters : int
    alpha : float
        Distance that "different" images should have; more is not asked for.
    strategy, candidates
        How pairs are chosen, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    A. Ohi, M. Mridha, F. Safir, M. Hamid, M. Monowar: *AutoEmbedder: a semi-supervised DNN
    embedding system for clustering*. Knowledge-Based Systems 2020. With the clipped distance
    :math:`\min(\|z_i - z_j\|, \alpha)`, the loss is its mean squared error from 0 for must-links
    and from :math:`\alpha = 100` for cannot-links. K-means clusters z.

    Choices. The network is pre-trained as an autoencoder, where the paper starts from one that
    was trained on other pictures: ready vectors have that already, but z has not. The loss is a
    share of alpha squared. Pairs given or implied; half of every batch are images with answers.
    Without any answer it goes on reconstructing, that is, it is `AE`.

    Published property: distances of answered pairs become two-valued, and k-means on z follows
    the answers.
    """

    places_anew: ClassVar[bool] = True

    n_clusters: int = 8
    _: KW_ONLY
    alpha: float = 100.0

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        linked = self._linked(indexes, view.z.device)
        if linked is None:
            return {"reconstruction": self._reconstruction(indexes, view.z)}
        first, second = view.z[linked.first], view.z[linked.second]
        alpha = self._settings.alpha
        return {"pairs": clipped_distance(first, second, linked.relations, limit=alpha)}
