"""Weighted class loss: labelled images teach the classifier, compact ones more."""

import torch.nn.functional as F
from torch import Tensor

from likewise.losses.similarity import at_least_float32


def weighted_class(logits: Tensor, labels: Tensor, importance: Tensor) -> Tensor:
    r"""Return the mean cross-entropy, each image times its importance.

    Parameters
    ----------
    logits : Tensor of shape (n, k)
        Of the labelled images; with none of them the loss is 0.
    labels : Tensor of shape (n,)
        Class of each, an integer below k.
    importance : Tensor of shape (n,)
        :math:`C_i`, see `compactness`.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (4): :math:`\frac{1}{n} \sum_i C_i H(y_i, f(F_i))`.

    Fidelity: the code's label smoothing, which sums to 1 for ten classes only, is left out.
    """
    logits = at_least_float32(logits)
    if len(logits) == 0:
        return logits.sum()
    return (importance.to(logits) * F.cross_entropy(logits, labels, reduction="none")).mean()
