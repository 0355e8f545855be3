"""Oracles answer questions: the protocol, simulated annotators, recorded answers, a counter.

Only oracles and metrics have access to true labels.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import (
    CANNOT_TELL,
    DIFFERENT,
    NONE,
    RESERVED,
    SAME,
    TICKED,
    Answer,
    Question,
)
from likewise.errors import InvalidParameterError, UnansweredError
from likewise.random_streams import stream
from likewise.types import Pairs


class Oracle(Protocol):
    """Anything that answers questions immediately."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""


class CountingOracle:
    """Forward questions to another oracle and count the answers.

    Parameters
    ----------
    oracle : Oracle

    Attributes
    ----------
    by_kind : Counter
        Number of answers of each kind, including "can't tell", which takes a
        person's time as well.
    n_unsure : int
        Number of "can't tell" answers.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.by_kind: Counter[str] = Counter()
        self.n_unsure: int = 0

    @property
    def n_answers(self) -> int:
        """Total number of answers."""
        return self.by_kind.total()

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""
        answers = self.oracle.answer(questions)
        self.count(answers)
        return answers

    def count(self, answers: Sequence[Answer]) -> None:
        """Add answers to the counts."""
        self.by_kind.update(answer.question.kind for answer in answers)
        self.n_unsure += sum(answer.answer == CANNOT_TELL for answer in answers)


class ReplayOracle:
    """Replay recorded answers; other questions are answered "can't tell".

    Parameters
    ----------
    answers : iterable of Answer
        In log order: the last answer to a question counts.
    strict : bool
        Raise for a question without a recorded answer, instead of answering "can't tell".

    Examples
    --------
    >>> oracle = ReplayOracle([Answer(Question.pair(0, 1), "same", who="Ann")])
    >>> [a.answer for a in oracle.answer([Question.pair(1, 0), Question.pair(0, 2)])]
    ['same', 'cannot_tell']
    """

    def __init__(self, answers: Iterable[Answer], *, strict: bool = False) -> None:
        self._answers = {answer.question: answer for answer in answers}
        self.strict = strict

    @property
    def pairs(self) -> Pairs:
        """The answered pairs, shape (m, 2), for use as candidates."""
        pairs = [question.images for question in self._answers if question.kind == "pair"]
        return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the recorded answer for each question, in order."""
        return [self._find(question) for question in questions]

    def _find(self, question: Question) -> Answer:
        if question in self._answers:
            return self._answers[question]
        if not self.strict:
            return Answer(question, CANNOT_TELL, who="recorded")
        images = ", ".join(str(image) for image in question.images)
        raise UnansweredError(
            f"The {question.kind} question about images {images} is not among the "
            f"{len(self._answers)} recorded answers; record it, or set strict=False to answer "
            "'cannot tell'."
        )


_MISSING = -1


class LabelOracle:
    """Answer pairs, choices, grids and label questions correctly from true labels.

    Parameters
    ----------
    labels : sequence of hashable labels
        One per image, in the order of the collection. ``None``, NaN, ``""`` and -1 are missing
        labels: every question about such an image is answered "can't tell".
    who, criterion : str
        Stored in the answers.

    Examples
    --------
    >>> oracle = LabelOracle(["summer", "winter", "summer", None])
    >>> questions = [Question.pair(0, 2), Question.label(1), Question.pair(2, 3)]
    >>> [answer.answer for answer in oracle.answer(questions)]
    ['same', 'winter', 'cannot_tell']
    """

    def __init__(
        self,
        labels: Iterable[object] | npt.NDArray[np.generic],
        *,
        who: str = "labels",
        criterion: str = "",
    ) -> None:
        self.who, self.criterion = who, criterion
        self.names: list[str]
        self.names, self._codes = _encode_labels(labels)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        if question.kind != "grid":
            return Answer(question, self._true_answer(question), self.who, self.criterion)
        *codes, shown = self._codes_of(question)
        if _MISSING in (*codes, shown):
            return Answer(question, CANNOT_TELL, self.who, self.criterion)
        ticked = tuple(
            image for image, code in zip(question.asked, codes, strict=True) if code != shown
        )
        return Answer(question, TICKED, self.who, self.criterion, ticked=ticked)

    def _true_answer(self, question: Question) -> str:
        codes = self._codes_of(question)
        if question.kind == "label":
            return CANNOT_TELL if codes[0] == _MISSING else self.names[codes[0]]
        if question.kind == "choice":
            return _choose(codes[0], codes[1:], question.groups)
        if _MISSING in codes:
            return CANNOT_TELL
        return SAME if codes[0] == codes[1] else DIFFERENT

    def _codes_of(self, question: Question) -> list[int]:
        for image in question.images:
            if not 0 <= image < len(self._codes):
                raise InvalidParameterError(
                    f"A question contains image {image}, but there are labels for "
                    f"{len(self._codes)} images only; give a label for each image of the "
                    "collection."
                )
        return [self._codes[image] for image in question.images]


class NoisyOracle:
    """Answer from true labels, with given probabilities of a wrong or missing answer.

    The same question always gets the same answer, whenever and in whatever order it is asked:
    the random draw depends on the seed and the question alone.

    Parameters
    ----------
    labels : sequence of hashable labels
        See `LabelOracle`.
    flip : float
        Probability that an answer is wrong: the opposite, another option of a choice, another
        label. In a wrong grid, one image drawn at random is wrong, and each other one with the
        same probability.
    unsure : float
        Probability of "can't tell".
    seed : int
    who, criterion : str
        Stored in the answers.

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
        criterion: str = "",
    ) -> None:
        for name, probability in (("flip", flip), ("unsure", unsure)):
            if not 0 <= probability <= 1:
                raise InvalidParameterError(f"{name} must be between 0 and 1, got {probability}.")
        self.flip, self.unsure, self.seed = flip, unsure, seed
        self._truth = LabelOracle(labels, who=who, criterion=criterion)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""
        truths = self._truth.answer(questions)
        return [self._noisy(truth) for truth in truths]

    def _noisy(self, truth: Answer) -> Answer:
        if truth.question.kind != "grid":
            return replace(truth, answer=self._noisy_answer(truth))
        question = truth.question
        rng = stream(self.seed, "noisy oracle", question.kind, *question.images)
        if truth.answer == CANNOT_TELL or rng.random() < self.unsure:
            return replace(truth, answer=CANNOT_TELL, ticked=())
        is_wrong = rng.random(len(question.asked)) < self.flip
        is_wrong[rng.integers(len(is_wrong))] = True
        if rng.random() >= self.flip:
            is_wrong[:] = False
        ticked = tuple(
            image
            for image, wrong in zip(question.asked, is_wrong, strict=True)
            if (image in truth.ticked) != wrong
        )
        return replace(truth, ticked=ticked)

    def _noisy_answer(self, truth: Answer) -> str:
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


def _choose(code: int, shown: list[int], groups: tuple[str, ...]) -> str:
    """Return the group whose representative has the same label, if exactly one has."""
    matching = [group for group, other in zip(groups, shown, strict=True) if other == code]
    # With two matching groups, choosing one would wrongly imply "different" for the other.
    if code == _MISSING or len(matching) > 1 or (not matching and _MISSING in shown):
        return CANNOT_TELL
    return matching[0] if matching else NONE


def _encode_labels(
    labels: Iterable[object] | npt.NDArray[np.generic],
) -> tuple[list[str], list[int]]:
    """Return the names of the distinct labels, and the index of each image's label."""
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise InvalidParameterError(
            f"labels must have shape (n,), one label per image, got shape {labels.shape}."
        )
    code_of: dict[object, int] = {}
    codes = []
    for label in labels:
        plain = label.item() if isinstance(label, np.generic) else label
        codes.append(_MISSING if _is_missing(plain) else code_of.setdefault(plain, len(code_of)))
    names = [f"label {label}" if str(label) in RESERVED else str(label) for label in code_of]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(
            f"Two different labels have the same text {twice!r}; give all labels in one type."
        )
    return names, codes


def _is_missing(label: object) -> bool:
    is_nan = isinstance(label, float) and math.isnan(label)
    return label is None or is_nan or label in ("", _MISSING)
