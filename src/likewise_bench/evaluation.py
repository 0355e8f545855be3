"""Ground truth of a run: simulated annotator, scores, baselines and learning curve."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.errors import DatasetError, InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.metrics import accuracy, majority_accuracy, other_criterion_accuracy, score
from likewise.oracles.base import CountingOracle, Oracle
from likewise.oracles.simulated import LabelOracle, NoisyOracle
from likewise.random_streams import derive
from likewise_bench.datasets.base import Dataset, Labels
from likewise_bench.spec import Parts, RunSpec

Found = npt.NDArray[np.intp]
Scores = dict[str, float]
_FIVE = ("nmi", "ari", "acc", "fmi", "pair_f1")


class GroundTruth:
    """The true labels of one run.

    Parameters
    ----------
    dataset : Dataset
    criterion : str, optional
        May be left out where the set has only one.
    parts : Parts

    Attributes
    ----------
    criterion : str
    parts : Parts
    n_values : int
        How many values the criterion has among the images that are learned from.
    """

    def __init__(self, dataset: Dataset, criterion: str | None, parts: Parts) -> None:
        self.criterion = _the_one(dataset, criterion)
        self.parts = parts
        self._labels = dataset.labels(self.criterion)
        self._others = [
            labels for name, labels in dataset.criteria.items() if name != self.criterion
        ]
        self._train: Labels = self._labels[parts.train]
        self.n_values = len(np.unique(self._train))
        if self.n_values < 2:
            raise DatasetError(
                f"The criterion {self.criterion!r} of {dataset.name!r} has one value only "
                "among the images chosen; at least 2 are needed."
            )

    def oracle(self, run: RunSpec) -> CountingOracle:
        """Return the simulated annotator of the run."""
        who: Oracle
        if run.noise or run.unsure:
            seed = derive(run.seed, "benchmark", "oracle")
            who = NoisyOracle(self._train, run.noise, run.unsure, seed)
        else:
            who = LabelOracle(self._train)
        return CountingOracle(who)

    def scores(self, found: Found) -> Scores:
        """Return the five scores on all training images."""
        return _scores(self._train, found)

    def unasked(self, found: Found, asked: Iterable[int]) -> Scores | None:
        """Return the five scores on training images that occur in no answer, or None."""
        rest = np.ones(len(found), dtype=bool)
        rest[list(asked)] = False
        return _scores(self._train[rest], found[rest]) if rest.any() else None

    def test_scores(self, found: Found | None) -> Scores | None:
        """Return the five scores on held-out images, or None."""
        return None if found is None else _scores(self._labels[self.parts.test], found)

    def baselines(self, by_k_means: Found) -> Mapping[str, Any]:
        """Return the baselines that need no answers."""
        others = [labels[self.parts.train] for labels in self._others]
        return {
            "majority_acc": majority_accuracy(self._train),
            "kmeans_acc": accuracy(self._train, by_k_means),
            "other_criterion_acc": other_criterion_accuracy(self._train, others),
        }


def _the_one(dataset: Dataset, criterion: str | None) -> str:
    if criterion is not None:
        return criterion
    if len(dataset.criteria) > 1:
        raise InvalidParameterError(
            f"{dataset.name!r} has several criteria; choose one with --by: "
            f"{', '.join(dataset.criteria)}."
        )
    return next(iter(dataset.criteria))


def _scores(truth: Labels, found: Found) -> Scores:
    scores = score(truth, found).as_dict()
    return {name: scores[name] for name in _FIVE}


class LearningCurve:
    """Called after every round of `fit`; adds a point to the curve.

    Parameters
    ----------
    truth : GroundTruth
    oracle : CountingOracle
        Who is asked during the run.
    test : array, Embeddings or ImageCollection, optional
        Images held out.

    Attributes
    ----------
    points : list of dict
        ``n_answers, acc, nmi, ari`` of the images learned from, and ``test``: the five
        scores of those held out, or None.
    """

    def __init__(self, truth: GroundTruth, oracle: CountingOracle, test: Any) -> None:
        self._judge, self.oracle, self._test = truth, oracle, test
        self.points: list[dict[str, Any]] = []

    def __call__(self, model: InteractiveClusterer) -> None:
        """Append the current scores."""
        marks = self._judge.scores(model.labels_)
        point = {name: marks[name] for name in ("acc", "nmi", "ari")}
        test = self._test_scores(model)
        self.points.append({"n_answers": self.oracle.n_answers, **point, "test": test})

    def scores(self, model: InteractiveClusterer) -> dict[str, Any]:
        """Return the fields of the result row: answers and all scores."""
        answers = model.constraints_.answers.values()
        asked = {image for answer in answers for image in answer.question.images}
        return {
            "n_answers": self.oracle.n_answers,
            **self._judge.scores(model.labels_),
            "unasked": self._judge.unasked(model.labels_, asked),
            "test": self._test_scores(model),
        }

    def _test_scores(self, model: InteractiveClusterer) -> Scores | None:
        found = None if self._test is None else model.predict(self._test)
        return self._judge.test_scores(found)
