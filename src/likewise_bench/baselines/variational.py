"""Variational autoencoders: VAE, and DC-GMM with a mixture prior and answered pairs."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from sklearn.mixture import GaussianMixture
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner
from likewise.estimators.questioners import Candidates, PairQuestioner
from likewise.nn.training import generator
from likewise.queries.base import QueryStrategy
from likewise.types import Floats
from likewise_bench.baselines.autoencoder import (
    AUTOENCODER_PLAN,
    AutoencoderNetwork,
    AutoencoderObjective,
    autoencoder_network,
    linked_pairs,
    reconstruction_loss,
)
from likewise_bench.baselines.network_baseline import NetworkBaseline

_MIN_LOG_VARIANCE = -6.0  # keeps the loss finite


@dataclass(eq=False, repr=False, kw_only=True)
class VAE(NetworkBaseline):
    r"""Variational autoencoder, then k-means on the means: unsupervised, asks no questions.

    Parameters
    ----------
    n_clusters : int
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    D. Kingma, M. Welling: *Auto-encoding variational Bayes*. ICLR 2014, the row VAE of the
    historical table of [CC]_. The encoder gives a normal distribution of z; the loss is

    .. math:: -\log p(x \mid z) + \mathrm{KL}(N(\mu, \sigma^2) \| N(0, 1)),
              \qquad z = \mu + \sigma \epsilon.

    K-means clusters the means.

    Choices. 10 columns, one hidden layer on either side, a normal likelihood of variance 1 on
    the 256 leading principal directions (of images: on a copy of 16 x 16). Both terms are used
    from the first epoch, without annealing. The draws come from named random streams, so a
    resumed training repeats them. *Fidelity:* the row of the table is computed on pixels.

    Published property: the embeddings together are about standard normal.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        k = self.settings_.n_clusters
        network = autoencoder_network(data, self._config, k, VariationalNetwork)
        return self._network_learner(data, network, VAEObjective(recluster=True)), NoQuestions()


class VariationalNetwork(AutoencoderNetwork):
    """An autoencoder whose z is the mean of a normal distribution with `log_variance`.

    Parameters
    ----------
    backbone, n_features, widths
        As in `AutoencoderNetwork`.
    """

    def __init__(self, backbone: nn.Module, n_features: int, **widths: Any) -> None:
        super().__init__(backbone, n_features, **widths)
        self.spread = nn.Linear(n_features, widths["n_embedding"])

    def log_variance(self, output: NetworkOutput) -> Tensor:
        """Return the log variance of each embedding, ``(b, d)``."""
        clamped: Tensor = self.spread(output.features).clamp(_MIN_LOG_VARIANCE, -_MIN_LOG_VARIANCE)
        return clamped


class VAEObjective(AutoencoderObjective):
    """Reconstruction of a draw of z, and the divergence from the standard normal prior."""

    def terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return both terms, from the first epoch."""
        log_variance = posterior_log_variance(batch)
        return {
            "reconstruction": draw_reconstruction_loss(batch, log_variance),
            "prior": normal_divergence(batch.plain.z, log_variance),
        }


def posterior_log_variance(batch: Batch) -> Tensor:
    """Return the log variance of the embeddings of a batch."""
    assert isinstance(batch.network, VariationalNetwork)
    return batch.network.log_variance(batch.plain)


def draw_reconstruction_loss(batch: Batch, log_variance: Tensor) -> Tensor:
    """Return the error of reconstructing a draw of z: minus the log likelihood at variance 1.

    The draw is the same for any number of processes.
    """
    learner, z, indexes = batch.learner, batch.plain.z, batch.indexes
    rng = generator(learner.seed, "z", learner.epoch, int(indexes[0]), len(indexes))
    noise = torch.randn(z.shape, generator=rng).to(z)
    assert isinstance(batch.network, VariationalNetwork)
    n_out = batch.network.decoder[-1].out_features
    assert isinstance(n_out, int)  # of a linear layer
    return reconstruction_loss(batch, z + noise * (log_variance / 2).exp()) * n_out / 2


def normal_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    r"""Return :math:`\mathrm{KL}(N(\mu, \sigma^2) \| N(0, 1))`, summed over columns, a mean."""
    terms = mean.square() + log_variance.exp() - 1 - log_variance
    return terms.sum(dim=1).mean() / 2


_TINY = 1e-10
_MAX_LOG_VARIANCE = 5.0


@dataclass(eq=False, repr=False, kw_only=True)
class DCGMM(NetworkBaseline):
    r"""Deep Gaussian mixture clustering with pairs in its prior.

    Parameters
    ----------
    n_clusters : int
    weight : float
        :math:`|W|`, of an answered pair, in units of the loss of an image.
    strategy, candidates
        How pairs are selected, as in `SDEC`.
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    L. Manduchi, K. Chin-Cheong, H. Michel, S. Wellmann, J. Vogt: *Deep conditional Gaussian
    mixture model for constrained clustering*. NeurIPS 2021. It is VaDE (Jiang et al., IJCAI 2017),

    .. math:: -\log p(x \mid z) + \sum_k q_k \mathrm{KL}(N(\mu, \sigma^2) \| N(\mu_k, \sigma_k^2))
              + \mathrm{KL}(q \| \pi),

    whose prior of the clusters of all images is a Potts model over the pairs: the bound gains
    :math:`\sum_{ij} W_{ij} \sum_k q_{ik} q_{jk}`, W > 0 for must-links and < 0 for cannot-links;
    q is the posterior of the components given z.

    Choices. Pre-training as a plain autoencoder, then scikit-learn's mixture of diagonal
    components as in VaDE, but all components begin with the variance of the whole embedding. The
    Potts term is the mean over the linked pairs of the batch, given or implied; half of every
    batch are images with answers. *Inferred:* q is computed at the mean of z, not at a draw, so
    that assignments in training equal those of prediction; W is one number.

    Published property: with answers it improves over the same mixture without.
    """

    default_plan: ClassVar[TrainingPlan] = AUTOENCODER_PLAN

    weight: float = 200.0
    strategy: str | QueryStrategy = "random"
    candidates: Candidates = "random"

    def _make_parts(self, data: Data) -> tuple[Learner, Questioner]:
        s = self.settings_
        network = autoencoder_network(data, self._config, s.n_clusters, MixtureNetwork)
        objective = DCGMMObjective(s.weight)
        learner = self._network_learner(data, network, objective)
        return learner, PairQuestioner(s.strategy, s.candidates)


class DCGMMObjective(AutoencoderObjective):
    """The variational bound of the mixture, and the Potts term of the linked pairs.

    Parameters
    ----------
    weight : float
        Of the linked pairs.
    """

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    def clustering_terms(self, batch: Batch) -> dict[str, Tensor]:
        """Return reconstruction, divergence from the mixture, and pairs."""
        log_variance = posterior_log_variance(batch)
        assert isinstance(batch.network, MixtureNetwork)
        terms = {
            "reconstruction": draw_reconstruction_loss(batch, log_variance),
            "mixture": mixture_divergence(batch.network, batch.plain, log_variance),
        }
        linked = linked_pairs(batch)
        if linked is not None:
            first, second = linked.of(batch.plain.p)
            together = (first * second).sum(dim=1)
            terms["pairs"] = -self.weight * (linked.relations * together).mean()
        return terms


class MixtureNetwork(VariationalNetwork):
    """A variational autoencoder with a Gaussian mixture prior of z; `centres` are its means.

    Parameters
    ----------
    backbone, n_features, widths
        As in `AutoencoderNetwork`.
    """

    def __init__(self, backbone: nn.Module, n_features: int, **widths: Any) -> None:
        super().__init__(backbone, n_features, **widths)
        # Variances are learned as bounded logarithms, so that no component shrinks to one image.
        self.log_share = nn.Parameter(torch.zeros(widths["n_clusters"]))
        self.raw_width = nn.Parameter(torch.zeros(widths["n_clusters"], widths["n_embedding"]))

    @property
    def component_log_variance(self) -> Tensor:
        """Return the log variance of each component, ``(k, d)``."""
        return self.raw_width.clamp(-_MAX_LOG_VARIANCE, _MAX_LOG_VARIANCE)

    def heads(self, features: Tensor) -> NetworkOutput:
        """Return the mean of z, and the posterior probability of each component."""
        z = self.embed(features)
        log_variance = self.component_log_variance
        squared = (z[:, None, :] - self.centres).square() * (-log_variance).exp()
        scores = -(squared + log_variance + math.log(2 * math.pi)).sum(dim=2) / 2
        p = (scores + self.log_share.log_softmax(dim=0)).softmax(dim=1)
        return NetworkOutput(features, z, p)

    @torch.no_grad()
    def initialize_centres(self, z: Floats, seed: int) -> None:
        """Fit the mixture to all embeddings."""
        mixture = GaussianMixture(
            len(self.centres), covariance_type="diag", reg_covar=1e-3, random_state=seed, tol=1e-2
        ).fit(z)
        self.centres.copy_(torch.from_numpy(mixture.means_))
        self.log_share.copy_(torch.from_numpy(mixture.weights_).clamp(min=_TINY).log())
        # The variance of all embeddings: with narrow components every assignment would be
        # certain, and answers could not change it.
        self.raw_width.copy_(torch.from_numpy(z).var(dim=0).clamp(min=_TINY).log())
        self.is_placed.fill_(True)


def mixture_divergence(
    network: MixtureNetwork, output: NetworkOutput, log_variance: Tensor
) -> Tensor:
    """Return both divergences of the variational bound, the mean over rows."""
    q, log_share = output.p.clamp_min(_TINY), network.log_share.log_softmax(dim=0)
    component = network.component_log_variance
    precision = (-component).exp()  # (k, d)
    squared = (output.z[:, None, :] - network.centres).square() + log_variance.exp()[:, None, :]
    each = (component + squared * precision - 1 - log_variance[:, None, :]).sum(dim=2) / 2
    shares = (q * (q.log() - log_share)).sum(dim=1)
    return ((q * each).sum(dim=1) + shares).mean()
