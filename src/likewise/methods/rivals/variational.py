"""The shared variational part: an embedding that is a distribution, drawn from while training."""

from typing import Any

import torch
from torch import Tensor, nn

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import AutoencoderNetwork, AutoencoderRival
from likewise.methods.rivals.deep import Indexes
from likewise.nn.training import generator

_NARROWEST = -6.0  # smallest log variance: keeps everything finite


class VariationalNetwork(AutoencoderNetwork):
    """An autoencoder whose z is the mean of a normal distribution; `log_variance` is the rest.

    Parameters
    ----------
    backbone, n_features, widths
        As in `AutoencoderNetwork`.
    """

    def __init__(self, backbone: nn.Module, n_features: int, **widths: Any) -> None:
        super().__init__(backbone, n_features, **widths)
        self.spread = nn.Linear(n_features, widths["n_embedding"])

    def log_variance(self, view: NetworkOutput) -> Tensor:
        """Return the log variance of each embedding, ``(b, d)``."""
        found: Tensor = self.spread(view.features).clamp(_NARROWEST, -_NARROWEST)
        return found


class VariationalRival(AutoencoderRival):
    """An autoencoder rival that reconstructs from a draw of z."""

    network_: VariationalNetwork

    def _make_autoencoder(self, *given: Any, **widths: Any) -> VariationalNetwork:
        return VariationalNetwork(*given, **widths)

    def _drawn(self, indexes: Indexes, view: NetworkOutput, log_variance: Tensor) -> Tensor:
        """Return one draw of z for each image of a batch, the same for any number of processes."""
        rng = generator(self._seed, "z", self._epoch, int(indexes[0]), len(indexes))
        noise = torch.randn(view.z.shape, generator=rng).to(view.z)
        return view.z + noise * (log_variance / 2).exp()

    def _evidence(self, indexes: Indexes, view: NetworkOutput, log_variance: Tensor) -> Tensor:
        """Return the error of reconstructing a draw: minus log likelihood at variance 1."""
        drawn = self._drawn(indexes, view, log_variance)
        n_out = self.network_.decoder[-1].out_features
        assert isinstance(n_out, int)  # of a linear layer
        return self._reconstruction(indexes, drawn) * n_out / 2


def normal_divergence(mean: Tensor, log_variance: Tensor) -> Tensor:
    r"""Return :math:`\mathrm{KL}(N(\mu, \sigma^2) \| N(0, 1))`, summed over columns, a mean."""
    terms = mean.square() + log_variance.exp() - 1 - log_variance
    return terms.sum(dim=1).mean() / 2
