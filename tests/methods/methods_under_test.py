"""The list of methods every contract test runs over; a new method adds a line here."""

from collections.abc import Callable
from typing import Any

from likewise.estimators.kernel.likewise import Likewise
from likewise.methods.base import PersonalClusterer
from likewise.methods.cc import CC
from likewise.methods.dsac import DSAC
from likewise.methods.kmeans import KMeans
from likewise.methods.occ import OCC
from likewise.methods.pcl import PCL
from likewise.methods.plan import Plan
from tests.methods.rivals.rivals_under_test import RIVALS

QUICK = Plan(epochs_per_round=5, n_rounds=2, batch_size=64, learning_rate=0.01)

METHODS: dict[str, Callable[..., PersonalClusterer]] = {
    "cc": lambda **given: CC(**_with(given, plan=QUICK)),
    "dsac": lambda **given: DSAC(**_with(given, plan=QUICK)),
    "occ": lambda **given: OCC(**_with(given, plan=QUICK)),
    "pcl": lambda **given: PCL(**_with(given, plan=QUICK)),
    "likewise": lambda **given: Likewise(**_with(given)),
    "kmeans": lambda **given: KMeans(**_with(given)),
    **RIVALS,
}


def _with(given: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    return {"n_clusters": 3, "random_state": 0, **defaults, **given}
