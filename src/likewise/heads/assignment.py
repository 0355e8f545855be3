"""From features to soft cluster assignments; rows sum to one."""

import torch
from torch import Tensor, nn


class AssignmentHead(nn.Module):
    """Two layers and a softmax: [CC]_'s cluster head.

    Parameters
    ----------
    n_in, n_hidden : int
        Widths; the papers' are both 512.
    n_clusters : int

    Notes
    -----
    Biases on, no batch normalisation. Logits and probabilities are float32 at
    least, also under autocast.

    Examples
    --------
    >>> head = AssignmentHead(8, 16, 3)
    >>> tuple(head(torch.ones(2, 8)).shape)
    (2, 3)
    """

    def __init__(self, n_in: int, n_hidden: int, n_clusters: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_clusters)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return assignment probabilities ``(b, n_clusters)``."""
        return self.logits(features).softmax(dim=1)

    def logits(self, features: Tensor) -> Tensor:
        """Return what the softmax is taken of, ``(b, n_clusters)``."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))
