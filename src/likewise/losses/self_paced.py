"""Self-paced pull: easy images follow their cluster's centre first, the farthest not at all."""

import torch
from torch import Tensor

from likewise.errors import InvalidParameterError
from likewise.losses.distance import squared_distances
from likewise.losses.similarity import at_least_float32


def self_paced(rows: Tensor, centres: Tensor, *, pace: float) -> Tensor:
    r"""Pull each row to its centre, the nearer the stronger.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Embeddings; with none of them the loss is 0.
    centres : Tensor of shape (n, d)
        The centre of each row's own cluster.
    pace : float
        :math:`\lambda`, the squared distance from which a row does not count; see `pace_of`.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (1), with :math:`d_i = \|F_i - c_i\|^2`, the mean over rows of

    .. math:: w_i d_i + \lambda (\tfrac12 w_i^2 - w_i), \qquad w_i = \max(1 - d_i / \lambda, 0)

    :math:`w` is Eq. (2), the minimiser for fixed rows, and has no gradient.

    Fidelity: the paper's squared distance and joint loss; the code's 1e-5 times
    the plain distance is not here.
    """
    distances = squared_distances(rows, centres)
    if len(distances) == 0:
        return distances.sum()
    w = self_paced_weights(distances, pace=pace)
    return (w * distances + pace * (w.square() / 2 - w)).mean()


def self_paced_weights(distances: Tensor, *, pace: float) -> Tensor:
    """Return the weight of each squared distance, 1 at the centre, 0 from `pace` on."""
    if not pace >= 0:
        raise InvalidParameterError(f"pace={pace} is not a squared distance; choose 0 or more.")
    # At pace 0 only rows that sit on their centre count, rather than 0/0.
    tiny = torch.finfo(distances.dtype).tiny
    return (1 - distances.detach() / max(pace, tiny)).clamp_min(0)


def pace_of(distances: Tensor, *, share: float = 0.95) -> float:
    """Return the pace at which `share` of all squared distances count.

    Take it over all unlabelled images, not over a batch. In [DSAC]_ the top
    1/20 do not count ("the first twenty quantile").
    """
    if len(distances) == 0:
        raise InvalidParameterError(
            "distances is empty, so there is no pace to take from it; drop the self-paced term "
            "when every image is labelled."
        )
    return float(at_least_float32(distances.detach()).quantile(share))
