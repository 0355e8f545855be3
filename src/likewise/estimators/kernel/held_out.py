"""Held-out predictions: what the model predicts for an image without the answers about it.

They measure the accuracy of the model on images without answers, and calibrate its probabilities by
one temperature. Images that were selected for their uncertainty are harder than others. Therefore a
small fraction of the questions, the audit questions, is about randomly drawn images.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.graph import ConstraintGraph
from likewise.estimators.kernel.training_set import LabeledGroups
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

Mask = npt.NDArray[np.bool_]
_QUESTIONS_PER_AUDIT = 8


@dataclass(frozen=True)
class Checked:
    """Predictions for images with answers, and what the answers allow.

    Parameters
    ----------
    images : array of shape (m,)
    probabilities : array of shape (m, k)
        Predicted without the image's own answer, before calibration.
    allowed : array of shape (m, k)
        The columns that the answers allow: one where they determine the group of the image.
    is_random : array of shape (m,)
        Whether the image belongs to the audit sample.
    n_labels : array of shape (m,)
        Number of labelled images of the model that predicted.
    """

    images: Indexes
    probabilities: Floats
    allowed: Mask
    is_random: Mask
    n_labels: Indexes

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Return the weight of each prediction: how many labels its model had, of those by now.

        A model with few labels is less certain and more often wrong than the present one.
        """
        n_labels = np.maximum(self.n_labels, 1).astype(np.float64)
        weights: npt.NDArray[np.float64] = n_labels / n_labels.max(initial=1)
        return weights

    @classmethod
    def empty(cls) -> "Checked":
        """Return no predictions."""
        none, numbers = np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.intp)
        return cls(numbers, np.zeros((0, 1), np.float32), none[:, None], none, numbers)

    def get_state(self) -> dict[str, Any]:
        """Return the arrays by name."""
        return {f"checked.{name}": array for name, array in vars(self).items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Checked":
        """Return what `get_state` saved; nothing for a model of release 0.1."""
        if "checked.images" not in state:
            return cls.empty()
        return cls(**{name: state[f"checked.{name}"] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class _Record:
    """One prediction; the first columns are known groups, each given by one of its images."""

    probabilities: Floats
    prototypes: tuple[int, ...]
    n_labels: int


class HeldOut:
    """What the model predicted for images before it was trained with their answers.

    Leave-one-out predictions of a trained model do not serve here: block weights, kernel width and
    whitening were fitted to all labels, and with few of them every label fits its own model.
    """

    def __init__(self) -> None:
        self._records: dict[int, _Record] = {}
        self._trained_on = set[int]()
        self._prototypes: tuple[int, ...] = ()

    def update(
        self, images: Iterable[int], probabilities: Floats | None, prototypes: Sequence[int]
    ) -> None:
        """Record the predictions of the current model for images answered since its training.

        Parameters
        ----------
        images : iterable of int
            All images with answers: the next model is trained with them.
        probabilities : array of shape (n_images, k), optional
            Of the present model; None if it is not trained.
        prototypes : sequence of int
            Of the groups that the next model knows.
        """
        given = set(images)
        if probabilities is not None:
            new = self.new_images(given)
            self.record(new, probabilities[new], self._prototypes, len(self._trained_on))
        self._trained_on, self._prototypes = given, tuple(prototypes)

    def new_images(self, images: Iterable[int]) -> Indexes:
        """Return those of the images with answers that no recorded prediction is about."""
        return np.array(sorted(set(images) - self._trained_on - set(self._records)), dtype=np.intp)

    def allowed_columns(self, images: Indexes, groups: LabeledGroups, k: int) -> Mask:
        """Return which of the present model's `k` columns agree with the answers, ``(m, k)``."""
        possible, known = possible_groups(groups), groups.classes[list(self._prototypes)]
        rows = [_allowed_columns(known, possible[i], k) for i in images.tolist()]
        return np.array(rows, dtype=np.bool_).reshape(len(images), k)

    def outdated(self, least: float) -> list[int]:
        """Return the labelled images without a record, or with one of a model with few labels.

        There is none after a restart and for answers collected elsewhere. `least` is the share of
        the present labels that a model must have had: one with fewer is worse than the present one.
        """
        n, records = least * len(self._trained_on), self._records
        return sorted(i for i in self._trained_on if i not in records or records[i].n_labels < n)

    def record(
        self, images: Indexes, probabilities: Floats, prototypes: Sequence[int], n_labels: int
    ) -> None:
        """Record predictions of a model that knows no answers about these images.

        Parameters
        ----------
        images : array of shape (m,)
        probabilities : array of shape (m, k)
        prototypes : sequence of int
            An image of each group that the model knows, in the order of the columns.
        n_labels : int
            Labelled images of the model.
        """
        for image, row in zip(images.tolist(), probabilities, strict=True):
            self._records[image] = _Record(row.copy(), tuple(prototypes), n_labels)

    def check(
        self, groups: LabeledGroups, graph: ConstraintGraph, kinds: Sequence[str], seed: int
    ) -> Checked:
        """Return the predictions for images whose answers limit their group.

        Images of grids and those that a person moved by hand are left out: a grid has images for
        which the model is unsure of one group, and people move the images that are wrong.

        Parameters
        ----------
        groups : LabeledGroups
        graph : ConstraintGraph
        kinds : sequence of str
            Kinds of questions that are asked.
        seed : int
        """
        possible = possible_groups(groups)
        selected = _selected_images(graph, kinds)
        images = [i for i in self._records if i in possible and i not in selected]
        if not images:
            return Checked.empty()
        records = [self._records[i] for i in images]
        width = max(len(record.probabilities) for record in records)
        probabilities = np.zeros((len(images), width), dtype=np.float32)
        allowed = np.zeros((len(images), width), dtype=np.bool_)
        for row, (image, record) in enumerate(zip(images, records, strict=True)):
            k, known = len(record.probabilities), groups.classes[list(record.prototypes)]
            probabilities[row, :k] = record.probabilities
            allowed[row, :k] = _allowed_columns(known, possible[image], k)
        is_random = np.zeros(graph.n_images, dtype=np.bool_)
        is_random[audit_sample(graph, groups.classes, seed)[0]] = True
        found = np.array(images, dtype=np.intp)
        n_labels = np.array([record.n_labels for record in records], dtype=np.intp)
        return Checked(found, probabilities, allowed, is_random[found], n_labels)

    def get_state(self) -> dict[str, Any]:
        """Return the records as arrays, shorter rows padded with -1."""
        records = list(self._records.values())
        probabilities = _padded([record.probabilities for record in records], np.float32)
        return {
            "held_out.images": np.array(list(self._records), dtype=np.intp),
            "held_out.probabilities": probabilities,
            "held_out.prototypes": _padded([record.prototypes for record in records], np.intp),
            "held_out.n_labels": np.array([record.n_labels for record in records], dtype=np.intp),
            "held_out.trained_on": np.array(sorted(self._trained_on), dtype=np.intp),
            "held_out.known": np.array(self._prototypes, dtype=np.intp),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `get_state` returned; a model of release 0.1 has no records."""
        if "held_out.images" not in state:
            return
        arrays = [state[f"held_out.{name}"] for name in ("probabilities", "prototypes", "n_labels")]
        for image, p, prototypes, n in zip(state["held_out.images"].tolist(), *arrays, strict=True):
            known = tuple(prototypes[prototypes >= 0].tolist())
            self._records[image] = _Record(p[p >= 0], known, int(n))
        self._trained_on = set(state["held_out.trained_on"].tolist())
        self._prototypes = tuple(state["held_out.known"].tolist())


def _padded(rows: Sequence[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    padded = np.full((len(rows), max(map(len, rows), default=0)), -1, dtype=dtype)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return padded


def possible_groups(groups: LabeledGroups) -> dict[int, frozenset[int]]:
    """Return the groups that each image with an answer may belong to; -1 is a further group."""
    labeled = np.flatnonzero(groups.classes >= 0).tolist()
    possible = {i: frozenset([int(groups.classes[i])]) for i in labeled}
    for images, excluded in groups.undecided:
        if excluded:
            rest = frozenset([-1, *range(len(groups.keys))]) - excluded
            possible |= dict.fromkeys(images.tolist(), rest)
    return possible


def _allowed_columns(known: Indexes, possible: frozenset[int], k: int) -> Mask:
    """Return the columns of a record that agree with the present answers.

    A group that the model did not know then belongs to its columns without a known group.

    Parameters
    ----------
    known : array of shape (m,)
        The present group of each of the first columns.
    possible : frozenset of int
        Groups that the image may belong to, -1 for a further group.
    k : int
    """
    allowed = np.zeros(k, dtype=np.bool_)
    allowed[: len(known)] = [group in possible for group in known.tolist()]
    allowed[len(known) :] = bool(possible - set(known.tolist()))
    return allowed


def _selected_images(graph: ConstraintGraph, kinds: Sequence[str]) -> set[int]:
    """Return images that say little about the others: those of grids, and those moved by hand."""
    by_hand = {"grid"} if "label" in kinds else {"grid", "label"}
    selected, asked = set[int](), set[int]()
    for answer in graph.answers.values():
        question = answer.question
        (selected if question.kind in by_hand else asked).update(question.asked)
    return selected - asked


def audit_sample(
    graph: ConstraintGraph, classes: Indexes, seed: int, n_next: int = 0
) -> tuple[Indexes, list[int]]:
    """Return the images of the audit sample, and `n_next` to ask about next, in their order.

    All images have a random order that depends on the seed alone. The sample is its longest
    beginning in which every image is in an answer or has a group by the answers. So it is the same
    whoever chose the images and after every restart, and needs no record.

    Parameters
    ----------
    graph : ConstraintGraph
    classes : array of shape (n_images,)
        See `LabeledGroups`.
    seed : int
    n_next : int
    """
    is_covered = classes >= 0
    is_covered[list(graph.bad_images)] = True
    for answer in graph.answers.values():
        is_covered[list(answer.question.images)] = True
    order = _random_order(graph.n_images, seed)[: int(is_covered.sum()) + n_next]
    n = int(np.argmin(np.append(is_covered[order], np.False_)))
    rest = order[n:]
    following: list[int] = rest[~is_covered[rest]][:n_next].tolist()
    return order[:n], following


@lru_cache(maxsize=2)
def _random_order(n_images: int, seed: int) -> Indexes:
    """Return the images in a random order; images added later do not change that of the others."""
    return np.argsort(stream(seed, "audit").random(n_images), kind="stable")


def is_audit_due(n_answered: int, n_sample: int) -> bool:
    """Return whether the next question is to be about an image drawn at random.

    One question in eight; one in four while the sample is smaller than that.
    """
    is_turn = n_answered % (_QUESTIONS_PER_AUDIT // 2) == _QUESTIONS_PER_AUDIT // 2 - 1
    return is_turn and n_sample < n_answered // _QUESTIONS_PER_AUDIT


Columns = npt.NDArray[np.bool_]
_LABEL_NOISE, _PRIOR_MEAN, _PRIOR_STD = 0.01, 0.4, 0.5  # the last two of the log temperature
_LOG_TEMPERATURES = np.linspace(-0.8, 1.6, 121)
_TINY = 1e-12


def apply_temperature(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities made less certain (above 1) or more certain (below 1)."""
    if temperature == 1 or not len(probabilities):
        return probabilities
    logs = np.log(np.maximum(probabilities, _TINY))
    logs -= logs.max(axis=1, keepdims=True)
    powers: Floats = np.exp(logs / np.float32(temperature))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def fit_temperature(checked: Checked) -> float:
    r"""Return the temperature (Guo et al. 2017) that fits the answers best; 1 without answers.

    Hyperparameters are tuned on the labels that also train the model, so its probabilities are too
    certain where a criterion is hard. What a model predicted that did not know the answer is a
    fair test. One temperature for all classes; it changes no argmax.

    Notes
    -----
    With the probabilities :math:`p_i` predicted for image :math:`i` and the groups :math:`A_i` that
    its answer allows,

    .. math:: q_i(T) = \frac{\sum_{k \in A_i} p_{ik}^{1/T}}{\sum_k p_{ik}^{1/T}}, \qquad
              T = \arg\min_T -\sum_i v_i \log[(1 - \epsilon) q_i(T) + \epsilon / 2]
              + \frac{(\log T - .4)^2}{2 \cdot 0.5^2}, \quad \epsilon = .01 ,

    with the weights :math:`v_i` of `Checked.weights`.
    """
    is_test = ~checked.allowed.all(axis=1)
    if not is_test.any():
        return 1.0
    logs = np.log(np.maximum(checked.probabilities[is_test], _TINY)).astype(np.float64)
    allowed = checked.allowed[is_test]
    weights = checked.weights[is_test]
    costs = [weights @ _nll(logs / np.exp(log_t), allowed) for log_t in _LOG_TEMPERATURES]
    prior = ((_LOG_TEMPERATURES - _PRIOR_MEAN) / _PRIOR_STD) ** 2 / 2
    return float(np.exp(_LOG_TEMPERATURES[np.argmin(costs + prior)]))


def _nll(logs: npt.NDArray[np.float64], allowed: Columns) -> npt.NDArray[np.float64]:
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    likelihood = (powers * allowed).sum(axis=1) / powers.sum(axis=1)
    nll: npt.NDArray[np.float64] = -np.log((1 - _LABEL_NOISE) * likelihood + _LABEL_NOISE / 2)
    return nll
