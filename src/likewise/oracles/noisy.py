"""An oracle like a person: now and then wrong, now and then unsure, and true to itself."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import (
    CANNOT_TELL,
    DIFFERENT,
    NONE,
    SAME,
    Answer,
    Question,
)
from likewise.errors import InvalidParameterError
from likewise.oracles.labels import LabelOracle
from likewise.seeds import stream


class NoisyOracle:
    """Answer from true labels, but wrongly or not at all with given chances.

    The same question gets the same answer whenever and in whatever order it is asked: the
    chance is drawn from the seed and the question alone.

    Parameters
    ----------
    labels : sequence of any hashable labels
        See `LabelOracle`.
    flip : float
        Chance that an answer which is given is wrong: the opposite, another option of a
        choice, another label.
    unsure : float
        Chance of "can't tell".
    seed : int
    who, orientation : str
        Written into the answers.

    Examples
    --------
    >>> oracle = NoisyOracle(["summer", "winter"], flip=1.0, unsure=0.0)
    >>> oracle.answer([Question.pair(0, 1)])[0].answer
    'same'
    """

    def __init__(
        self,
        labels: Iterable[object] | npt.NDArray[np.generic],
        flip: float = 0.1,
        unsure: float = 0.05,
        seed: int = 0,
        *,
        who: str = "noisy labels",
        orientation: str = "",
    ) -> None:
        for name, chance in (("flip", flip), ("unsure", unsure)):
            if not 0 <= chance <= 1:
                raise InvalidParameterError(f"{name}={chance} is no chance; give 0 to 1.")
        self.flip, self.unsure, self.seed = flip, unsure, seed
        self._truth = LabelOracle(labels, who=who, orientation=orientation)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order."""
        truths = self._truth.answer(questions)
        return [
            Answer(truth.question, self._say(truth), truth.who, truth.orientation)
            for truth in truths
        ]

    def _say(self, truth: Answer) -> str:
        """Return the answer this oracle gives where `truth` is the true one."""
        question = truth.question
        rng = stream(self.seed, "noisy oracle", question.kind, *question.images, *question.groups)
        is_unsure, is_wrong = rng.random(2) < (self.unsure, self.flip)
        if truth.answer == CANNOT_TELL or is_unsure:
            return CANNOT_TELL
        others = [option for option in self._options(question) if option != truth.answer]
        if not is_wrong or not others:
            return truth.answer
        return others[int(rng.integers(len(others)))]

    def _options(self, question: Question) -> Sequence[str]:
        if question.kind == "pair":
            return (SAME, DIFFERENT)
        return (*question.groups, NONE) if question.kind == "choice" else self._truth.names
