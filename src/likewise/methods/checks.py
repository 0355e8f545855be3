"""What every method checks before it starts: its seed, its number of clusters, its numbers."""

import math
import warnings
from typing import Any

import numpy as np

from likewise.errors import InvalidParameterError, LikewiseWarning


def drawn_seed(random_state: Any) -> int:
    """Return the seed that a `random_state` stands for: None, a number, or numpy's old kind."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def check_clusters(k: Any, n_images: int) -> None:
    """Refuse a number of clusters that `n_images` images cannot have."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameterError(
            f"n_clusters={k!r} is no number of groups; choose a whole number of at least 2."
        )
    if k == 1:  # scikit-learn's checks demand that it works
        warnings.warn(
            "n_clusters=1 leaves nothing to sort, every image goes into one cluster; "
            "choose at least 2.",
            LikewiseWarning,
            stacklevel=4,
        )
    if k > n_images:
        raise InvalidParameterError(
            f"n_clusters={k} is more than the n_samples={n_images} images given; "
            f"choose at most {n_images} clusters, or add pictures."
        )


def check_between(what: str, name: str, value: float, least: float, most: float = math.inf) -> None:
    """Refuse a number that cannot be `what` it is for."""
    if not least <= value <= most:
        choice = f"at least {least}" if most == math.inf else f"{least} to {most}"
        raise InvalidParameterError(f"{name}={value} is no {what}; choose {choice}.")
