"""The baselines for tests that run over all of them, with settings that make them quick."""

from collections.abc import Callable
from functools import partial
from typing import Any

from likewise.estimators.base import InteractiveClusterer
from likewise.estimators.params import NetworkConfig, TrainingPlan
from likewise.estimators.registry import method_class
from likewise_bench.baselines import METHODS

TINY = NetworkConfig(n_features=16, n_hidden=16, n_projection=8)
PLAN = TrainingPlan(warmup_epochs=1, epochs_per_round=1, batch_size=128, learning_rate=0.01)
LONGER = PLAN.replace(warmup_epochs=0, epochs_per_round=6, batch_size=25, learning_rate=0.03)
QUICK: dict[str, dict[str, Any]] = {
    "cobra": {},
    "cop-kmeans": {"n_init": 2},
    "pckmeans": {"n_init": 1},
    "sc": {},
    "ac": {},
    "nmf": {"n_steps": 20},
    **{name: {"plan": LONGER, "architecture": TINY} for name in ("gcc", "mice", "pica", "spice")},
    "idc": {"plan": LONGER.replace(warmup_epochs=3, epochs_per_round=1), "architecture": TINY},
}


def make_baseline(name: str, **given: Any) -> InteractiveClusterer:
    """Return a quick baseline."""
    quick = QUICK.get(name, {"plan": PLAN, "architecture": TINY})
    return method_class(name)(**{"n_clusters": 3, "random_state": 0, **quick, **given})


CONTRACT_METHODS: dict[str, Callable[..., InteractiveClusterer]] = {
    name: partial(make_baseline, name) for name in METHODS if name != "pcl-authors"
}
