"""From features to the embedding space where images are contrasted; rows have length one."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ProjectionHead(nn.Module):
    """Two layers and a unit length: [CC]_'s instance head.

    Parameters
    ----------
    n_in, n_hidden, n_out : int
        Widths; the papers' are 512, 512, 128.

    Notes
    -----
    Biases on, no batch normalisation. The output is float32 at least, also under autocast.

    Examples
    --------
    >>> head = ProjectionHead(8, 16, 4)
    >>> tuple(head(torch.ones(3, 8)).shape)
    (3, 4)
    """

    def __init__(self, n_in: int = 512, n_hidden: int = 512, n_out: int = 128) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_out)
        )

    def forward(self, features: Tensor) -> Tensor:
        """Return embeddings ``(b, n_out)``."""
        rows = self.layers(features)
        return F.normalize(rows.to(torch.promote_types(rows.dtype, torch.float32)), dim=1)
