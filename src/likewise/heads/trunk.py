"""A trunk for ready vectors: where pictures have a backbone, vectors have this."""

from itertools import pairwise

from torch import Tensor, nn

from likewise.errors import InvalidParameterError


class VectorTrunk(nn.Module):
    """Linear layers with ReLU, from vectors of any width to features.

    Vectors should be standardised before.

    Parameters
    ----------
    n_in : int
        Width of the vectors.
    n_features : int
        Width of the features, and of the layers between.
    n_layers : int
        At least 1.

    Examples
    --------
    >>> import torch
    >>> trunk = VectorTrunk(30, n_features=8)
    >>> tuple(trunk(torch.ones(2, 30)).shape)
    (2, 8)
    """

    def __init__(self, n_in: int, n_features: int = 512, n_layers: int = 1) -> None:
        super().__init__()
        if n_layers < 1:
            raise InvalidParameterError(
                f"n_layers={n_layers} leaves vectors as they are; choose at least 1."
            )
        self.n_features = n_features
        widths = [n_in] + [n_features] * n_layers
        layers = [
            nn.Sequential(nn.Linear(wide, narrow), nn.ReLU()) for wide, narrow in pairwise(widths)
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return features ``(b, n_features)``."""
        features: Tensor = self.layers(vectors)
        return features
