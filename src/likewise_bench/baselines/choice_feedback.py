"""IDC: which images to ask about (value mining), and the losses of the answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from likewise.estimators.kernel.training_set import LabeledGroups
from likewise.queries.density import neighbour_distances
from likewise.types import Floats, Indexes

UNASSIGNED = -1
_SAVED_NAMES = {"chosen": "feedback.chosen", "excluded": "feedback.refused"}  # as in release 0.1
_TINY = 1e-8
_N_NEIGHBOURS = 20
_N_CANDIDATES = 600  # images of the highest value, among which diversity is maximised


# -- value of asking about an image -------------------------------------------


def most_valuable(
    value: npt.NDArray[np.floating],
    rows: Floats,
    is_open: npt.NDArray[np.bool_],
    asked: Indexes,
    n: int,
) -> Indexes:
    r"""Return the `n` open images that are most worth asking about, best first.

    Parameters
    ----------
    value : array of shape (n_images,)
        See `value_of`.
    rows : array of shape (n_images, d)
        L2-normalised.
    is_open : array of shape (n_images,)
    asked : array of int
        Images asked about before.
    n : int

    Notes
    -----
    The value of an image is the sum of three scores, each scaled to 0..1 over all images:
    *hardness* :math:`1 - (p_{(1)} - p_{(2)})`; *representativeness*, minus the mean squared
    distance to its neighbours; *diversity*, one minus the largest cosine similarity with an image
    selected before. Diversity changes with each selected image, so the selection is greedy.
    """
    candidates = np.flatnonzero(is_open)
    candidates = candidates[np.argsort(-value[candidates], kind="stable")][: max(_N_CANDIDATES, n)]
    nearest = np.full(len(candidates), -1.0)
    if len(asked):
        nearest = (rows[candidates] @ rows[asked].T).max(axis=1).astype(np.float64)
    chosen: list[int] = []
    for _ in range(min(n, len(candidates))):
        total = value[candidates] + (1 - nearest) / 2
        total[chosen] = -np.inf
        chosen.append(int(total.argmax()))
        nearest = np.maximum(nearest, rows[candidates] @ rows[candidates[chosen[-1]]])
    return candidates[chosen]


def value_of(probabilities: npt.NDArray[np.floating], rows: Floats) -> npt.NDArray[np.floating]:
    """Return the sum of hardness and representativeness, both scaled to 0..1."""
    return _min_max(hardness(probabilities)) + _min_max(representativeness(rows))


def hardness(probabilities: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return one minus the margin between the two most likely clusters of each image."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
    hard: npt.NDArray[np.floating] = 1 - (first - second)
    return hard


def representativeness(rows: Floats) -> npt.NDArray[np.floating]:
    """Return minus the mean squared distance of each image to its nearest neighbours."""
    all_images = np.arange(len(rows))
    return -neighbour_distances(rows, all_images, all_images, _N_NEIGHBOURS)


def _min_max(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return values scaled to 0..1; all 0 if they are equal."""
    low, high = float(values.min()), float(values.max())
    if high <= low:
        return np.zeros(len(values))
    scaled: npt.NDArray[np.floating] = (values - low) / (high - low)
    return scaled


# -- losses of the answers --------------------------------------------------------


@dataclass(frozen=True)
class ChoiceFeedback:
    """The cluster an image belongs to, and those it does not belong to, by the answers.

    Parameters
    ----------
    chosen : array of shape (n,)
        Cluster of each image that answers assign, else -1.
    excluded : array of shape (n, k)
        Clusters that answers exclude.
    """

    chosen: Indexes
    excluded: npt.NDArray[np.bool_]

    @property
    def images(self) -> Indexes:
        """Return the images with feedback."""
        return np.flatnonzero((self.chosen != UNASSIGNED) | self.excluded.any(axis=1))

    def has_feedback(self, indexes: Indexes) -> Tensor:
        """Return which images of a batch have feedback."""
        known = (self.chosen[indexes] != UNASSIGNED) | self.excluded[indexes].any(axis=1)
        return torch.from_numpy(known)

    def terms(self, indexes: Indexes, p: Tensor) -> dict[str, Tensor]:
        """Return the positive and the negative loss of a batch with assignments `p`."""
        chosen = torch.from_numpy(self.chosen[indexes]).to(p.device)
        excluded = torch.from_numpy(self.excluded[indexes]).to(p.device)
        is_chosen = chosen != UNASSIGNED
        terms = {"positive": 0 * p.sum()}
        if is_chosen.any():
            own = p[is_chosen, chosen[is_chosen]]
            terms["positive"] = -own.clamp_min(_TINY).log().mean()
        if excluded.any():
            terms["negative"] = -(1 - p[excluded]).clamp_min(_TINY).log().mean()
        return terms

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by their names in saved models."""
        return {name: getattr(self, field) for field, name in _SAVED_NAMES.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Self | None:
        """Return what `to_arrays` wrote; None if it is not in `arrays`."""
        if not set(_SAVED_NAMES.values()) <= set(arrays):
            return None
        return cls(**{field: arrays[name] for field, name in _SAVED_NAMES.items()})


def feedback_from_groups(
    groups: LabeledGroups, columns: Indexes, n_clusters: int
) -> ChoiceFeedback:
    """Return the feedback of the labelled groups; ``columns[c]`` is the cluster of group c."""
    is_labelled = groups.classes >= 0
    chosen = np.full(len(groups.classes), UNASSIGNED, dtype=np.intp)
    chosen[is_labelled] = columns[groups.classes[is_labelled]]
    excluded = np.zeros((len(chosen), n_clusters), dtype=bool)
    for images, classes in groups.undecided:
        excluded[np.ix_(images, columns[sorted(classes)])] = True
    return ChoiceFeedback(chosen, excluded)


def match_columns(groups: LabeledGroups, probabilities: npt.NDArray[np.floating]) -> Indexes:
    """Return the cluster of each group, by the assignment of highest mean probability."""
    n_groups = len(groups.keys)
    means = np.zeros((n_groups, probabilities.shape[1]))
    for c in range(n_groups):
        means[c] = probabilities[groups.classes == c].mean(axis=0)
    columns: Indexes = linear_sum_assignment(-means)[1]
    return columns
