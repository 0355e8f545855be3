"""DC-GMM: a mixture of Gaussians in a variational embedding, with a prior over answered pairs."""

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import torch
from sklearn.mixture import GaussianMixture
from torch import Tensor, nn

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.deep import Indexes
from likewise.methods.rivals.variational import VariationalNetwork, VariationalRival
from likewise.methods.shared_parameters import PairParameters, TrainingParameters
from likewise.types import Floats

_TINY = 1e-10
_WIDEST = 5.0


class MixtureNetwork(VariationalNetwork):
    """A variational autoencoder whose z comes from a mixture; `centres` are its means.

    Parameters
    ----------
    backbone, n_features, widths
        As in `AutoencoderNetwork`.
    """

    def __init__(self, backbone: nn.Module, n_features: int, **widths: Any) -> None:
        super().__init__(backbone, n_features, **widths)
        # Widths are learned as logarithms and bounded, so that no component closes on one image.
        self.log_share = nn.Parameter(torch.zeros(widths["n_clusters"]))
        self.raw_width = nn.Parameter(torch.zeros(widths["n_clusters"], widths["n_embedding"]))

    @property
    def log_width(self) -> Tensor:
        """Return the log variance of each component, ``(k, d)``."""
        return self.raw_width.clamp(-_WIDEST, _WIDEST)

    def heads(self, features: Tensor, bank: Tensor | None = None) -> NetworkOutput:
        """Return the mean of z, and how likely each component made it."""
        z = self.embed(features)
        width = self.log_width
        away = (z[:, None, :] - self.centres).square() * (-width).exp()
        scores = -(away + width + math.log(2 * math.pi)).sum(dim=2) / 2
        return NetworkOutput(
            features, z, (scores + self.log_share.log_softmax(dim=0)).softmax(dim=1)
        )

    @torch.no_grad()
    def place(self, rows: Floats, seed: int) -> None:
        """Fit the mixture to all embeddings."""
        found = GaussianMixture(
            len(self.centres), covariance_type="diag", reg_covar=1e-3, random_state=seed, tol=1e-2
        ).fit(rows)
        self.centres.copy_(torch.from_numpy(found.means_))
        self.log_share.copy_(torch.from_numpy(found.weights_).clamp(min=_TINY).log())
        # As wide as all rows together: narrow components would be certain of every image, and
        # an answer could not move one that is certain.
        self.raw_width.copy_(torch.from_numpy(rows).var(dim=0).clamp(min=_TINY).log())
        self.is_placed.fill_(True)


@dataclass(eq=False, repr=False)
class DCGMM(PairParameters, TrainingParameters, VariationalRival):
    r"""Deep Gaussian mixture clustering with pairs in its prior.

    Parameters
    ----------
    n_clusters : int
    weight : float
        |W|: how much an answered pair counts, in the loss of an image.
    strategy, candidates
        How pairs are chosen, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    L. Manduchi, K. Chin-Cheong, H. Michel, S. Wellmann, J. Vogt: *Deep conditional Gaussian
    mixture model for constrained clustering*. NeurIPS 2021. It is VaDE (Jiang et al., IJCAI 2017),

    .. math:: -\log p(x \mid z) + \sum_k q_k \mathrm{KL}(N(\mu, \sigma^2) \| N(\mu_k, \sigma_k^2))
              + \mathrm{KL}(q \| \pi),

    whose prior of the clusters of all images is a Potts field over the pairs: the bound gains
    :math:`\sum_{ij} W_{ij} \sum_k q_{ik} q_{jk}`, W > 0 for must-links and < 0 for cannot-links;
    q is how likely each component made z.

    Choices. Pre-training as a plain autoencoder, then scikit-learn's mixture of diagonal
    components, as VaDE does it, but all as wide as the embedding at first. The field is the mean
    over the answered pairs of the batch, given or implied; half of every batch are images with
    answers. *Inferred:* q is taken at the mean of z, not at a draw, so that assignments in
    training are those of reading out; W is one number.

    Published property: with answers it improves over the same mixture without.
    """

    network_: MixtureNetwork = field(init=False)

    n_clusters: int = 8
    _: KW_ONLY
    weight: float = 200.0

    def _make_autoencoder(self, *given: Any, **widths: Any) -> MixtureNetwork:
        return MixtureNetwork(*given, **widths)

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        log_variance = self.network_.log_variance(view)
        terms = {
            "reconstruction": self._evidence(indexes, view, log_variance),
            "mixture": mixture_divergence(self.network_, view, log_variance),
        }
        linked = self._linked(indexes, view.z.device)
        if linked is not None:
            together = (view.p[linked.first] * view.p[linked.second]).sum(dim=1)
            terms["pairs"] = -self._settings.weight * (linked.relations * together).mean()
        return terms


def mixture_divergence(
    network: MixtureNetwork, view: NetworkOutput, log_variance: Tensor
) -> Tensor:
    """Return both divergences of the bound, the mean over rows."""
    q, log_share = view.p.clamp_min(_TINY), network.log_share.log_softmax(dim=0)
    precision = (-network.log_width).exp()  # (k, d)
    away = (view.z[:, None, :] - network.centres).square() + log_variance.exp()[:, None, :]
    each = (network.log_width + away * precision - 1 - log_variance[:, None, :]).sum(dim=2) / 2
    shares = (q * (q.log() - log_share)).sum(dim=1)
    return ((q * each).sum(dim=1) + shares).mean()
