"""DEC: an embedding that teaches itself, by the clusters it is surest of."""

from typing import ClassVar

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import SelfTrainingRival
from likewise.methods.rivals.deep import Indexes, UnguidedRival


class DEC(SelfTrainingRival, UnguidedRival):
    r"""Deep embedded clustering: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    encoder : str or Encoder
        How pictures become vectors when no `backbone` is given.
    backbone : str or nn.Module, optional
        Train this network on the pictures themselves, from scratch.
    architecture : Architecture, optional
    plan : Plan, optional
        Its warm-up epochs reconstruct, all others cluster.
    random_state : int, optional

    Notes
    -----
    J. Xie, R. Girshick, A. Farhadi: *Unsupervised deep embedding for clustering analysis*. ICML
    2016, [DEC]_. An autoencoder is pre-trained; its decoder is dropped; k-means places centres in
    the 10 columns of z. Then centres and encoder follow

    .. math:: L = \mathrm{KL}(P \| Q), \qquad
              q_{ij} \propto (1 + \|z_i - \mu_j\|^2)^{-1}, \qquad
              p_{ij} \propto q_{ij}^2 / \textstyle\sum_i q_{ij}.

    P is made anew from all images in every epoch.

    Choices. One hidden layer instead of three (500, 500, 2000): ready vectors are deep already.
    The input are the 256 leading directions of the same vectors as all other methods, at mean
    square 1 as the paper has it; of pictures, a copy of 16 x 16 is reconstructed. *Fidelity:*
    plain reconstruction where the paper trains layer by layer with dropout; Adam for SGD.

    Published property: self-training makes assignments surer without leaving the first
    clusters, and improves on k-means in the same embedding.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        return {"clusters": self._divergence(indexes, view)}
