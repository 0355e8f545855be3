"""The methods of this package that the contract tests run over."""

from collections.abc import Callable, Mapping
from typing import Any

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.kernel.likewise import Likewise


def _likewise(**given: Any) -> Likewise:
    return Likewise(**{"n_clusters": 3, "random_state": 0, **given})


CONTRACT_METHODS: Mapping[str, Callable[..., InteractiveClusterer]] = {"likewise": _likewise}
