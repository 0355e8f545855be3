"""Ground truth of a run: simulated annotator, scores, baselines and learning curve."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Answer, Question
from likewise.errors import AnswersEndedError, DatasetError, InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.metrics import accuracy, majority_accuracy, other_criterion_accuracy, score
from likewise.oracles.base import CountingOracle, Oracle
from likewise.oracles.simulated import LabelOracle, NoisyOracle
from likewise.random_streams import derive
from likewise_bench.datasets.base import Dataset, Labels
from likewise_bench.spec import Parts, RunSpec

Found = npt.NDArray[np.intp]
Scores = dict[str, float]
_SCORES = ("nmi", "ari", "acc", "fmi", "pair_f1")

#: Assumed seconds of a person per question: fixed, and per group shown. Also docs/reference.
PERSON_SECONDS = {"pair": (2.0, 0.0), "choice": (1.5, 0.2), "label": (3.0, 0.0)}


def person_seconds(question: Question) -> float:
    """Return the assumed time of a person for one question, in seconds.

    Examples
    --------
    >>> person_seconds(Question.pair(0, 1)), person_seconds(Question.label(0))
    (2.0, 3.0)
    """
    fixed, per_group = PERSON_SECONDS[question.kind]
    return fixed + per_group * len(question.groups)


class TimedOracle(CountingOracle):
    """Count the answers and the simulated time of the annotator, up to a limit.

    Parameters
    ----------
    oracle : Oracle
    max_seconds : float, optional
        Simulated time allowed.

    Attributes
    ----------
    seconds : float
        Simulated time of all answers, including "can't tell".
    is_time_up : bool
        Whether a question was refused, because its answer would have exceeded `max_seconds`.
    """

    def __init__(self, oracle: Oracle, max_seconds: float | None = None) -> None:
        super().__init__(oracle)
        self.max_seconds = max_seconds
        self.seconds, self.is_time_up = 0.0, False

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order.

        Raises
        ------
        AnswersEndedError
            If the time allowed is too short for these questions.
        """
        seconds = round(self.seconds + sum(map(person_seconds, questions)), 6)
        if self.max_seconds is not None and seconds > self.max_seconds:
            self.is_time_up = True
            raise AnswersEndedError([], len(questions))
        self.seconds = seconds
        return super().answer(questions)


class GroundTruth:
    """The true labels of one run.

    Parameters
    ----------
    dataset : Dataset
    criterion : str, optional
        May be omitted if the data set has only one.
    parts : Parts

    Attributes
    ----------
    criterion : str
    parts : Parts
    n_values : int
        Number of distinct values of the criterion among the training images.
    """

    def __init__(self, dataset: Dataset, criterion: str | None, parts: Parts) -> None:
        self.criterion = _choose_criterion(dataset, criterion)
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
                "among the selected images; at least 2 are needed."
            )

    def oracle(self, run: RunSpec) -> TimedOracle:
        """Return the simulated annotator of the run."""
        oracle: Oracle
        if run.noise or run.unsure:
            seed = derive(run.seed, "benchmark", "oracle")
            oracle = NoisyOracle(self._train, run.noise, run.unsure, seed)
        else:
            oracle = LabelOracle(self._train)
        return TimedOracle(oracle, run.seconds)

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

    def baselines(self, kmeans_labels: Found) -> Mapping[str, Any]:
        """Return the baselines that need no answers."""
        others = [labels[self.parts.train] for labels in self._others]
        return {
            "majority_acc": majority_accuracy(self._train),
            "kmeans_acc": accuracy(self._train, kmeans_labels),
            "other_criterion_acc": other_criterion_accuracy(self._train, others),
        }


def _choose_criterion(dataset: Dataset, criterion: str | None) -> str:
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
    return {name: scores[name] for name in _SCORES}


class LearningCurve:
    """Called after every round of `fit`; adds a point to the curve.

    Parameters
    ----------
    truth : GroundTruth
    oracle : TimedOracle
        The annotator of the run.
    test : array, Embeddings or ImageCollection, optional
        Held-out images.

    Attributes
    ----------
    points : list of dict
        ``n_answers, person_seconds``, the scores ``acc, nmi, ari`` of the training images, and
        ``test``: the five scores of the held-out images, or None.
    """

    def __init__(self, truth: GroundTruth, oracle: TimedOracle, test: Any) -> None:
        self._truth, self.oracle, self._test = truth, oracle, test
        self.points: list[dict[str, Any]] = []

    def __call__(self, model: InteractiveClusterer) -> None:
        """Append the current scores."""
        scores = self._truth.scores(model.labels_)
        self.points.append(
            {
                "n_answers": self.oracle.n_answers,
                "person_seconds": self.oracle.seconds,
                **{name: scores[name] for name in ("acc", "nmi", "ari")},
                "test": self._test_scores(model),
            }
        )

    def scores(self, model: InteractiveClusterer) -> dict[str, Any]:
        """Return the fields of the result row: answers and all scores.

        `raw` are the scores of the model's own prediction, without enforcing answers.
        """
        answers = model.constraints_.answers.values()
        asked = {image for answer in answers for image in answer.question.images}
        return {
            "n_answers": self.oracle.n_answers,
            **self._truth.scores(model.labels_),
            "raw": self._truth.scores(model.probabilities_.argmax(axis=1)),
            "unasked": self._truth.unasked(model.labels_, asked),
            "test": self._test_scores(model),
        }

    def _test_scores(self, model: InteractiveClusterer) -> Scores | None:
        found = None if self._test is None else model.predict(self._test)
        return self._truth.test_scores(found)
