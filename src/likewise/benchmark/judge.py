"""Who knows the truth: it answers questions and gives marks, and nothing else sees the labels."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.benchmark.datasets.dataset import Dataset, Labels
from likewise.benchmark.protocol import Parts, Run
from likewise.errors import DatasetError, InvalidParameterError
from likewise.metrics import accuracy, majority_accuracy, other_criterion_accuracy, score
from likewise.oracles.base import CountingOracle, Oracle
from likewise.oracles.simulated import LabelOracle, NoisyOracle
from likewise.seeds import derive

Found = npt.NDArray[np.intp]
Marks = dict[str, float]
_FIVE = ("nmi", "ari", "acc", "fmi", "pair_f1")


class Judge:
    """The true labels of one run.

    Parameters
    ----------
    dataset : Dataset
    orientation : str, optional
        May be left out where the set has only one.
    parts : Parts

    Attributes
    ----------
    orientation : str
    parts : Parts
    n_values : int
        How many values the orientation has among the images that are learned from.
    """

    def __init__(self, dataset: Dataset, orientation: str | None, parts: Parts) -> None:
        self.orientation = _the_one(dataset, orientation)
        self.parts = parts
        self._labels = dataset.labels(self.orientation)
        self._others = [
            labels for name, labels in dataset.orientations.items() if name != self.orientation
        ]
        self._train: Labels = self._labels[parts.train]
        self.n_values = len(np.unique(self._train))
        if self.n_values < 2:
            raise DatasetError(
                f"The orientation {self.orientation!r} of {dataset.name!r} has one value only "
                "among the images chosen; sorting needs at least 2."
            )

    def oracle(self, run: Run) -> CountingOracle:
        """Return someone who answers as the run says, and counts."""
        who: Oracle
        if run.noise or run.unsure:
            seed = derive(run.seed, "benchmark", "oracle")
            who = NoisyOracle(self._train, run.noise, run.unsure, seed)
        else:
            who = LabelOracle(self._train)
        return CountingOracle(who)

    def marks(self, found: Found) -> Marks:
        """Return the five scores of all images that were learned from."""
        return _marks(self._train, found)

    def unasked(self, found: Found, asked: Iterable[int]) -> Marks | None:
        """Return the five scores on the images named in no answer, if there are any."""
        rest = np.ones(len(found), dtype=bool)
        rest[list(asked)] = False
        return _marks(self._train[rest], found[rest]) if rest.any() else None

    def test_marks(self, found: Found | None) -> Marks | None:
        """Return the five scores of the images held out, if there are any."""
        return None if found is None else _marks(self._labels[self.parts.test], found)

    def baselines(self, by_k_means: Found) -> Mapping[str, Any]:
        """Return what can be had without asking anything."""
        others = [labels[self.parts.train] for labels in self._others]
        return {
            "majority_acc": majority_accuracy(self._train),
            "kmeans_acc": accuracy(self._train, by_k_means),
            "other_orientation_acc": other_criterion_accuracy(self._train, others),
        }


def _the_one(dataset: Dataset, orientation: str | None) -> str:
    if orientation is not None:
        return orientation
    if len(dataset.orientations) > 1:
        raise InvalidParameterError(
            f"{dataset.name!r} can be sorted in several ways; choose one with --orientation: "
            f"{', '.join(dataset.orientations)}."
        )
    return next(iter(dataset.orientations))


def _marks(truth: Labels, found: Found) -> Marks:
    scores = score(truth, found).as_dict()
    return {name: scores[name] for name in _FIVE}
