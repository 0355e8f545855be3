"""Few or equal images, and answers that tell nothing: no exception, no NaN, a wide interval."""

from collections.abc import Sequence

import numpy as np
import pytest

from likewise.constraints.question import Answer, Question
from likewise.estimators.kernel.likewise import Likewise
from likewise.random_streams import stream


class Unhelpful:
    """Answers every question in the same way, or at random."""

    def __init__(self, mode: str) -> None:
        self._mode, self._rng = mode, stream(0, mode)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        if self._mode == "cannot tell":
            return Answer(question, "cannot_tell")
        none = {"pair": "different", "choice": "none", "grid": "ticked"}[question.kind]
        if self._mode == "none":
            return Answer(question, none, ticked=question.asked if none == "ticked" else ())
        if question.kind == "grid":
            ticked = [i for i in question.asked if self._rng.random() < 0.5]
            return Answer(question, "ticked", ticked=tuple(ticked))
        others = ("same",) if question.kind == "pair" else ("new", *question.groups)
        return Answer(question, str(self._rng.choice([none, *others])))


@pytest.mark.parametrize("mode", ["none", "cannot tell", "random"])
@pytest.mark.parametrize("is_equal", [True, False], ids=["equal", "random images"])
@pytest.mark.parametrize(("n", "k"), [(1, None), (2, None), (2, 2), (40, None), (40, 3)])
def test_answers_without_information(n: int, k: int | None, is_equal: bool, mode: str) -> None:
    rng = stream(1, "images")
    X = np.ones((n, 8)) if is_equal else rng.normal(size=(n, 8))
    model = Likewise(k, random_state=0)
    model.fit(X, oracle=Unhelpful(mode), n_questions=25)
    found = model.accuracy_estimate_
    assert len(model.labels_) == n
    assert np.isfinite(model.probabilities_).all()
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    if mode == "cannot tell":
        assert (found.low, found.high) == (0, 1)  # nothing is known
        assert model.advice_.code == "too_early"
