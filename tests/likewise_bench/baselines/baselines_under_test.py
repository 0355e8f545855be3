"""The rivals that contract tests run over, each with settings that make it quick."""

from collections.abc import Callable
from functools import partial
from typing import Any

from likewise.methods.architecture import Architecture
from likewise.methods.base import PersonalClusterer
from likewise.methods.plan import Plan
from likewise.methods.registry import METHODS, method_class

TINY = Architecture(n_features=16, n_hidden=16, n_projection=8)
PLAN = Plan(warmup_epochs=1, epochs_per_round=1, batch_size=128, learning_rate=0.01)
LONGER = PLAN.but(warmup_epochs=0, epochs_per_round=6, batch_size=25, learning_rate=0.03)
QUICK: dict[str, dict[str, Any]] = {
    "cobra": {},
    "cop-kmeans": {"n_init": 2},
    "pckmeans": {"n_init": 1},
    "sc": {},
    "ac": {},
    "nmf": {"n_steps": 20},
    **{name: {"plan": LONGER, "architecture": TINY} for name in ("gcc", "mice", "pica", "spice")},
    "idc": {"plan": LONGER.but(warmup_epochs=3, epochs_per_round=1), "architecture": TINY},
}


def make_rival(name: str, **given: Any) -> PersonalClusterer:
    """Return a quick rival."""
    quick = QUICK.get(name, {"plan": PLAN, "architecture": TINY})
    return method_class(name)(**{"n_clusters": 3, "random_state": 0, **quick, **given})


RIVALS: dict[str, Callable[..., PersonalClusterer]] = {
    name: partial(make_rival, name) for name in METHODS if ".rivals." in METHODS[name]
}
