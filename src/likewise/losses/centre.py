"""Centre loss: labelled images gather around the mean of their class."""

import torch
from torch import Tensor

from likewise.losses.distance import squared_distances
from likewise.losses.similarity import at_least_float32


def centre(
    rows: Tensor, labels: Tensor, centres: Tensor, importance: Tensor, *, gamma: float = 1.0
) -> Tensor:
    r"""Return the mean squared distance to the class centres, weighted by importance.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Embeddings of labelled images; with none of them the loss is 0.
    labels : Tensor of shape (n,)
        Class of each, an integer below k.
    centres : Tensor of shape (k, d)
        Class means over *all* labelled images, see `class_means`.
    importance : Tensor of shape (n,)
        :math:`C_i`, see `compactness`.
    gamma : float
        :math:`\gamma`, the weight of the term.

    Returns
    -------
    loss : Tensor of shape ()

    Notes
    -----
    [DSAC]_ Eq. (5) and (6): :math:`\frac{\gamma}{n} \sum_i C_i \|F_i - c'_{y_i}\|^2`.

    Fidelity: on embeddings as printed; the code has it on logits, with weight 0.
    """
    distances = squared_distances(rows, centres[labels])
    if len(distances) == 0:
        return distances.sum()
    return gamma * (importance.to(distances) * distances).mean()


@torch.no_grad()
def class_means(rows: Tensor, labels: Tensor, n_classes: int) -> Tensor:
    """Return the mean row of each class, ``(n_classes, d)``; zeros for a class without rows."""
    rows = at_least_float32(rows)
    sums = rows.new_zeros(n_classes, rows.shape[1]).index_add_(0, labels, rows)
    counts = torch.bincount(labels, minlength=n_classes).clamp_min(1)
    return sums / counts[:, None]
