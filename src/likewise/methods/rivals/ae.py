"""AE: k-means on what an autoencoder keeps."""

from typing import ClassVar

from torch import Tensor

from likewise.estimators.deep.networks import NetworkOutput
from likewise.methods.rivals.autoencoder import AutoencoderRival
from likewise.methods.rivals.deep import Indexes, UnguidedRival


class AE(AutoencoderRival, UnguidedRival):
    r"""An autoencoder, then k-means: unguided, nothing is asked.

    Parameters
    ----------
    n_clusters : int
    encoder, backbone, architecture, plan, random_state
        As in `DEC`.

    Notes
    -----
    Y. Bengio, P. Lamblin, D. Popovici, H. Larochelle: *Greedy layer-wise training of deep
    networks*. NIPS 2007, the row AE of the historical table of [CC]_:
    :math:`\min \|x - g(f(x))\|^2` with 10 columns between f and g, then k-means on these.

    Choices. One hidden layer on either side, trained as a whole: layer by layer is no longer
    needed to train it. The input are the 256 leading directions of the same vectors as all other
    methods; of pictures, a copy of 16 x 16 is reconstructed. *Fidelity:* the table's row looks
    at pixels.

    Published property: a few columns suffice to reconstruct what images have in common.
    """

    asks: ClassVar[tuple[str, ...]] = ()
    places_anew: ClassVar[bool] = True

    def _terms(self, indexes: Indexes, view: NetworkOutput) -> dict[str, Tensor]:
        return {"reconstruction": self._reconstruction(indexes, view.z)}
