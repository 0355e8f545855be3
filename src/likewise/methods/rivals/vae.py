"""VAE: k-means on what a variational autoencoder keeps."""

from typing import ClassVar

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.deep import Indexes, UnguidedRival
from likewise.methods.rivals.variational import VariationalRival, normal_divergence


class VAE(VariationalRival, UnguidedRival):
    r"""A variational autoencoder, then k-means: unguided, nothing is asked.

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
    the 256 leading directions (of pictures: on a copy of 16 x 16). Both terms are there from the
    first epoch; nothing is annealed. The draws come from named seeds, so a resume repeats them.
    *Fidelity:* the table's row looks at pixels.

    Published property: the embeddings together are about standard normal.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    places_anew: ClassVar[bool] = True

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        log_variance = self.network_.log_variance(view)
        return {
            "reconstruction": self._evidence(indexes, view, log_variance),
            "prior": normal_divergence(view.z, log_variance),
        }

    def _pretraining_terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        return self._terms(indexes, view)
