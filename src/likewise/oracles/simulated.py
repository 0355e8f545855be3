"""Simulated annotators that answer from true labels, correctly or with noise."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import (
    CANNOT_TELL,
    DIFFERENT,
    NONE,
    RESERVED,
    SAME,
    Answer,
    Question,
)
from likewise.errors import InvalidParameterError
from likewise.random_streams import stream

_MISSING = -1


class LabelOracle:
    """Answer pairs, choices and label questions correctly from true labels.

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
        self.names, self._codes = _encode_labels(labels)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order."""
        return [
            Answer(question, self._true_answer(question), self.who, self.criterion)
            for question in questions
        ]

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
        label.
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
        return [replace(truth, answer=self._noisy_answer(truth)) for truth in truths]

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
