"""VAE, and the variational parts that DC-GMM shares: an embedding that is a distribution."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from likewise.estimators.data import Data
from likewise.estimators.deep.networks import NetworkOutput
from likewise.estimators.deep.objective import Batch
from likewise.estimators.params import TrainingPlan
from likewise.estimators.parts import Learner, NoQuestions, Questioner
from likewise.nn.training import generator
from likewise_bench.baselines.autoencoder import (
    AUTOENCODER_PLAN,
    AutoencoderNetwork,
    AutoencoderObjective,
    autoencoder_network,
    reconstruction_loss,
)
from likewise_bench.baselines.network_baseline import NetworkBaseline

_MIN_LOG_VARIANCE = -6.0  # keeps the loss finite


@dataclass(eq=False, repr=False, kw_only=True)
class VAE(NetworkBaseline):
    r"""Variational autoencoder, then k-means on the means: unguided, asks nothing.

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
