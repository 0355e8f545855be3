"""SDEC: DEC with the distances of answered pairs."""

from dataclasses import KW_ONLY, dataclass

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.pair_losses import signed_distance
from likewise.methods.shared_parameters import PairParameters, TrainingParameters


@dataclass(eq=False, repr=False)
class SDEC(PairParameters, TrainingParameters, SelfTrainingRival):
    r"""Semi-supervised deep embedded clustering: pairs pull and push in the embedding.

    Parameters
    ----------
    n_clusters : int
    weight : float
        :math:`\lambda`, of the pairs beside the clustering.
    clip : float
        Squared distance beyond which "different" images are not pushed any more.
    strategy : str or QueryStrategy
        How pairs are chosen; the paper draws them at random.
    candidates : {"random", "anchored", "anchored-wide"}
        Which pairs are considered.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    Y. Ren, K. Hu, X. Dai, L. Pan, S. Hoi, Z. Xu: *Semi-supervised deep embedded clustering*.
    Neurocomputing 2019.

    .. math:: L = \mathrm{KL}(P \| Q)
              + \frac{\lambda}{n} \sum_{ij} a_{ij} \|z_i - z_j\|^2, \qquad a_{ij} = +1, -1, 0,

    with Q and P of `DEC`, a = +1 for must-links, -1 for cannot-links.

    Choices. The cannot-link term has no lower bound, so the network could leave everything
    else behind; it is clipped. The mean over the answered pairs of the batch, given or implied,
    stands for the sum over n, and half of every batch are images with answers, since with a
    hundred answers among thousands of images hardly two would ever meet. So our weight is not
    the paper's 1e-5, which multiplies a sum over n^2 entries of a.

    Published property: with answers it improves over `DEC`.
    """

    n_clusters: int = 8
    _: KW_ONLY
    weight: float = 0.1
    clip: float = 25.0

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        terms = {"clusters": self._divergence(indexes, view)}
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            first, second = view.z[linked.first], view.z[linked.second]
            pairs = signed_distance(first, second, linked.relations, clip=self._settings.clip)
            terms["pairs"] = self._settings.weight * pairs
        return terms
