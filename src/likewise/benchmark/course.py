"""The course of one run: what is asked, and the marks after every round."""

from typing import Any

from likewise.benchmark.judge import Judge, Marks
from likewise.methods.base import PersonalClusterer
from likewise.oracles.base import CountingOracle


class Course:
    """Called after every round of `fit`; adds a point to the curve.

    Parameters
    ----------
    judge : Judge
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

    def __init__(self, judge: Judge, oracle: CountingOracle, test: Any) -> None:
        self._judge, self.oracle, self._test = judge, oracle, test
        self.points: list[dict[str, Any]] = []

    def __call__(self, model: PersonalClusterer) -> None:
        """Take note of where the model is."""
        marks = self._judge.marks(model.labels_)
        point = {name: marks[name] for name in ("acc", "nmi", "ari")}
        test = self._test_marks(model)
        self.points.append({"n_answers": self.oracle.n_answers, **point, "test": test})

    def marks(self, model: PersonalClusterer) -> dict[str, Any]:
        """Return the final part of a row: answers and all scores."""
        answers = model.constraints_.answers.values()
        asked = {image for answer in answers for image in answer.question.images}
        return {
            "n_answers": self.oracle.n_answers,
            **self._judge.marks(model.labels_),
            "unasked": self._judge.unasked(model.labels_, asked),
            "test": self._test_marks(model),
        }

    def _test_marks(self, model: PersonalClusterer) -> Marks | None:
        found = None if self._test is None else model.predict(self._test)
        return self._judge.test_marks(found)
