"""The area under the answer curve: how good a method was on the way, in one number."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def area(row: Mapping[str, Any], name: str = "acc") -> float | None:
    """Return the mean score between no answer and the last, by trapezoids; None without one.

    The curve begins with what k-means finds without an answer, the same for every method, so
    that none gains from having no early point. Of images held out where there are any (their
    curve begins at its first point, as k-means has not sorted them).

    Examples
    --------
    >>> curve = [{"n_answers": 10, "acc": 0.8, "test": None}]
    >>> area({"curve": curve, "baselines": {"kmeans_acc": 0.4}, "acc": 0.8})
    0.6
    """
    points = [(point["n_answers"], _score(point, name)) for point in row["curve"]]
    points = [point for point in points if point[1] is not None]
    if not points:
        return None
    if points[-1][0] == 0:
        return float(points[-1][1])
    is_tested = row["curve"][-1]["test"] is not None
    first = points[0][1] if is_tested or name != "acc" else row["baselines"]["kmeans_acc"]
    answers, scores = np.array([(0, first), *points], dtype=float).T
    return round(float(np.trapezoid(scores, answers) / answers[-1]), 6)


def _score(point: Mapping[str, Any], name: str) -> Any:
    part = point if point["test"] is None else point["test"]
    return part.get(name)
