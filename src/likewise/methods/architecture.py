"""How a method sees images: sizes of its network, and the views it draws."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from likewise.errors import InvalidParameterError, UnknownNameError


@dataclass(frozen=True)
class Architecture:
    """Widths of the network and views of its input.

    Parameters
    ----------
    n_features : int
        Width of the trunk on vectors; a backbone brings its own.
    n_hidden, n_projection : int
        Hidden width of both heads, and width of z.
    size : int
        Pixels a side of a picture, with a backbone.
    recipe : str
        Augmentations of pictures: ``cc-small``, ``cc-large``, ``cc-imagenet``, ``pcl``,
        ``simclr-dsac``, ``gentle``.
    feature_dropout, feature_noise, facet_dropout : float
        Views of vectors: share of columns dropped, noise in standard
        deviations, share of facets dropped.
    """

    n_features: int = 512
    n_hidden: int = 512
    n_projection: int = 128
    size: int = 64
    recipe: str = "cc-small"
    feature_dropout: float = 0.4
    feature_noise: float = 0.5
    facet_dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in ("n_features", "n_hidden", "n_projection", "size"):
            if getattr(self, name) < 1:
                raise InvalidParameterError(
                    f"Architecture: {name}={getattr(self, name)} must be at least 1."
                )
        for name in ("feature_dropout", "facet_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InvalidParameterError(
                    f"Architecture: {name}={getattr(self, name)} must be at least 0 and below 1."
                )

    def but(self, **changes: Any) -> Self:
        """Return this architecture with some entries changed; a wrong name is refused in words."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                raise UnknownNameError("entry of an architecture", name, known)
        return replace(self, **changes)
