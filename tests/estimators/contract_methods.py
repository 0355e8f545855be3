"""The methods that every contract test runs over; a new method adds a line here.

Baselines are listed in `tests.likewise_bench.baselines.contract_methods`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.params import TrainingPlan
from likewise.estimators.registry import METHODS as PLACES
from likewise.estimators.registry import method_class

QUICK = TrainingPlan(epochs_per_round=5, n_rounds=2, batch_size=64, learning_rate=0.01)
_NETWORKS = ("cc", "dsac", "occ", "pcl")
_OTHERS = "tests.likewise_bench.baselines.contract_methods"
Make = Callable[..., InteractiveClusterer]


def _make(name: str) -> Make:
    plan = {"plan": QUICK} if name in _NETWORKS else {}

    def make(**given: Any) -> InteractiveClusterer:
        return method_class(name)(**{"n_clusters": 3, "random_state": 0, **plan, **given})

    return make


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _baselines() -> Mapping[str, Make]:
    if not _exists(_OTHERS):
        return {}
    return cast(Mapping[str, Make], import_module(_OTHERS).CONTRACT_METHODS)


METHODS: dict[str, Make] = {
    **{name: _make(name) for name, place in PLACES.items() if _exists(place.split(":")[0])},
    **_baselines(),
}
