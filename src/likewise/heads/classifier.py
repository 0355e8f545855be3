"""From features to class scores, for the methods that ask for labels."""

import torch
from torch import Tensor, nn

from likewise.errors import UnknownNameError

CLASSIFIERS = ("paper", "authors")


class ClassifierHead(nn.Module):
    """One linear layer: [DSAC]_'s classifier; it returns logits.

    Parameters
    ----------
    n_in : int
        Width of the embedding; 200 in the paper.
    n_classes : int
    kind : {"paper", "authors"}
        The authors' code puts a ReLU and batch normalisation before the layer.

    Examples
    --------
    >>> tuple(ClassifierHead(8, 3)(torch.ones(2, 8)).shape)
    (2, 3)
    """

    def __init__(self, n_in: int, n_classes: int, *, kind: str = "paper") -> None:
        super().__init__()
        if kind not in CLASSIFIERS:
            raise UnknownNameError("classifier", kind, CLASSIFIERS)
        before = [nn.ReLU(), nn.BatchNorm1d(n_in)] if kind == "authors" else []
        self.layers = nn.Sequential(*before, nn.Linear(n_in, n_classes))

    def forward(self, features: Tensor) -> Tensor:
        """Return logits ``(b, n_classes)``, float32 at least."""
        logits: Tensor = self.layers(features)
        return logits.to(torch.promote_types(logits.dtype, torch.float32))
