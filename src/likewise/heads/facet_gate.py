"""Which facets matter: one learned weight a facet of the vectors."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from likewise.errors import InvalidParameterError, UnknownNameError

GATES = ("softmax", "sigmoid")


class FacetGate(nn.Module):
    r"""Multiply each facet of a vector by its own weight.

    All weights start at 1, so an untrained gate changes nothing.

    Parameters
    ----------
    slices : mapping of str to slice
        Where each facet lies; together they cover the vector once.
    gate : {"softmax", "sigmoid"}
        ``"softmax"``: weights compete and have mean 1. ``"sigmoid"``: each has a
        value between 0 and 2 of its own.

    Examples
    --------
    >>> gate = FacetGate({"last": slice(0, 3), "middle": slice(3, 5)})
    >>> gate.weights()
    {'last': 1.0, 'middle': 1.0}
    """

    facet_of: Tensor

    def __init__(self, slices: Mapping[str, slice], *, gate: str = "softmax") -> None:
        super().__init__()
        if gate not in GATES:
            raise UnknownNameError("gate", gate, GATES)
        self.names, self.gate = list(slices), gate
        self.scores = nn.Parameter(torch.zeros(len(slices)))
        self.register_buffer("facet_of", _facet_of(slices), persistent=False)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return gated vectors, ``(b, d)``."""
        return vectors * self._weights()[self.facet_of].to(vectors.dtype)

    def weights(self) -> dict[str, float]:
        """Return the weight of each facet; 1 is where all started."""
        return dict(zip(self.names, self._weights().tolist(), strict=True))

    def _weights(self) -> Tensor:
        if self.gate == "softmax":
            return self.scores.softmax(dim=0) * len(self.names)
        return 2 * self.scores.sigmoid()


def _facet_of(slices: Mapping[str, slice]) -> Tensor:
    """Return for each position of a vector the number of its facet."""
    parts = [range(s.start or 0, s.stop) for s in slices.values()]
    width = max((part.stop for part in parts), default=0)
    positions = sorted(position for part in parts for position in part)
    if positions != list(range(width)) or width == 0:
        raise InvalidParameterError(
            f"slices={dict(slices)} do not cover a vector of {width} values once; give every "
            "position exactly one facet."
        )
    facet_of = torch.empty(width, dtype=torch.long)
    for number, part in enumerate(parts):
        facet_of[part.start : part.stop] = number
    return facet_of
