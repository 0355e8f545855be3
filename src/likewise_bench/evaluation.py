"""Ground truth of a run: simulated annotator, scores, baselines and learning curve."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Answer, Question, person_seconds
from likewise.errors import AnswersEndedError, DatasetError, InvalidParameterError
from likewise.estimators.base import InteractiveClusterer
from likewise.metrics import accuracy, majority_accuracy, other_criterion_accuracy, score
from likewise.oracles.base import CountingOracle, LabelOracle, NoisyOracle, Oracle
from likewise.queries.pairwise import answer_components
from likewise.random_streams import derive
from likewise_bench.datasets.base import Dataset, Labels
from likewise_bench.spec import Parts, RunSpec

Found = npt.NDArray[np.intp]
Scores = dict[str, float]
_SCORES = ("nmi", "ari", "acc", "fmi", "pair_f1")


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
        answers = self.oracle.answer(questions)
        spent = sum(person_seconds(a.question, len(a.ticked)) for a in answers)
        seconds = round(self.seconds + spent, 6)
        if self.max_seconds is not None and seconds > self.max_seconds:
            self.is_time_up = True
            raise AnswersEndedError([], len(questions))
        self.seconds = seconds
        self.count(answers)
        return answers


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


def answer_fields(model: InteractiveClusterer) -> dict[str, float | None]:
    """Return the share of "same" among answered pairs, and the images that answers connect.

    `largest_component` is the largest number of images connected by chains of answers.
    """
    given = [a.answer for a in model.constraints_.answers.values() if a.question.kind == "pair"]
    decided = [answer for answer in given if answer in ("same", "different")]
    sizes = answer_components(model.constraints_)[1]
    return {
        "same_share": decided.count("same") / len(decided) if decided else None,
        "largest_component": int(sizes.max()) if model.constraints_.n_answers else 0,
    }


def estimate_fields(model: InteractiveClusterer) -> dict[str, float | None]:
    """Return the accuracy that a method itself estimates, with its 90 % interval; or None."""
    found = getattr(model, "accuracy_estimate_", None)
    names = {"estimate": "estimate", "estimate_low": "low", "estimate_high": "high"}
    return {field: getattr(found, name, None) for field, name in names.items()}


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
        ``n_answers, person_seconds``, the scores ``acc, nmi, ari`` of the training images,
        ``estimate, estimate_low, estimate_high`` (see `estimate_fields`), and
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
                **estimate_fields(model),
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
