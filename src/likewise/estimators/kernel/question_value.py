"""Expected information of a choice or a grid, per second of the person's time."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import GRID_SIZE, PERSON_SECONDS, Question, person_seconds
from likewise.types import Floats, Indexes

Doubles = npt.NDArray[np.float64]
_REDUNDANCY = 0.7  # information of an image of a grid: its neighbours are asked about as well
_EXCLUSION = 0.25  # information of "not in this group", where more than one group remains
_MIN_GRID = 4  # images


def single_value(question: Question, probabilities: Floats, shown: Indexes) -> float:
    r"""Return the expected information of a pair or choice per second, in nats.

    It is the entropy of the answer, :math:`-\sum_a p_a \log p_a`, with one answer for each group
    shown and one for all others.

    Parameters
    ----------
    question : Question
    probabilities : array of shape (k,)
        Of the image asked about.
    shown : array of int
        Columns of the groups shown.
    """
    p = probabilities[shown[shown < len(probabilities)]].astype(np.float64)
    answers = np.append(p, max(1 - float(p.sum()), 0.0))
    return float(_entropy_terms(answers).sum()) / person_seconds(question)


class GridChoice(NamedTuple):
    """A grid: the column of its group, its images by position, and its value."""

    group: int
    images: Indexes
    value: float


def best_grid(probabilities: Floats, n_groups: int, n_columns: int) -> GridChoice | None:
    r"""Return the grid with the highest expected information per second.

    An image that belongs to the group with probability p gives
    :math:`0.7\,[-p \log p - \delta (1 - p) \log (1 - p)]` nats, :math:`\delta = 1/4` unless only
    one group remains, and takes :math:`0.3 + 0.5 (1 - p)` seconds. Images are added in the order
    of information per second while that of the whole grid grows, at most 16.

    Parameters
    ----------
    probabilities : array of shape (m, k)
        Of the candidates; 0 where a group is excluded.
    n_groups : int
        Groups that can be asked about: the first columns.
    n_columns : int
        Groups there may be.
    """
    if len(probabilities) < _MIN_GRID or not n_groups:
        return None
    p = probabilities[:, :n_groups].astype(np.float64)
    fixed, _, per_image, per_tick = PERSON_SECONDS["grid"]
    exclusion = _EXCLUSION if n_columns > 2 else 1.0
    information = _REDUNDANCY * (_entropy_terms(p) + exclusion * _entropy_terms(1 - p))
    seconds = per_image + per_tick * (1 - p)
    order = np.argsort(-information / seconds, axis=0, kind="stable")[:GRID_SIZE]
    total = np.cumsum(np.take_along_axis(information, order, 0), axis=0)
    value = total / (fixed + np.cumsum(np.take_along_axis(seconds, order, 0), axis=0))
    value[: _MIN_GRID - 1] = 0
    last, group = np.unravel_index(int(value.argmax()), value.shape)
    images = order[: int(last) + 1, int(group)].astype(np.intp)
    return GridChoice(int(group), images, float(value[last, group]))


def _entropy_terms(p: Doubles) -> Doubles:
    """Return -p log p, 0 for p = 0."""
    terms: Doubles = -p * np.log(np.clip(p, 1e-12, 1))
    return terms
