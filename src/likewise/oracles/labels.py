"""An oracle that knows the true label of every image and always tells the truth."""

import math
from collections.abc import Iterable, Sequence

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

_MISSING = -1


class LabelOracle:
    """Answer pairs, choices and label requests from true labels.

    Parameters
    ----------
    labels : sequence of any hashable labels
        One for each image, in the order of the collection. ``None``, NaN, ``""`` and -1 say
        that an image has no label: whatever is asked of it, the answer is "can't tell".
    who, orientation : str
        Written into the answers.

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
        orientation: str = "",
    ) -> None:
        self.who, self.orientation = who, orientation
        self.names, self._codes = _coded(labels)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order."""
        return [
            Answer(question, self._say(question), self.who, self.orientation)
            for question in questions
        ]

    def _say(self, question: Question) -> str:
        """Return the true answer to one question."""
        codes = self._codes_of(question)
        if question.kind == "label":
            return CANNOT_TELL if codes[0] == _MISSING else self.names[codes[0]]
        if question.kind == "choice":
            return _chosen(codes[0], codes[1:], question.groups)
        if _MISSING in codes:
            return CANNOT_TELL
        return SAME if codes[0] == codes[1] else DIFFERENT

    def _codes_of(self, question: Question) -> list[int]:
        for image in question.images:
            if not 0 <= image < len(self._codes):
                raise InvalidParameterError(
                    f"A question names image {image}, but there are labels for "
                    f"{len(self._codes)} images; give one label for each image of the collection."
                )
        return [self._codes[image] for image in question.images]


def _chosen(code: int, shown: list[int], groups: tuple[str, ...]) -> str:
    """Return the group whose representative has the same label, if just one has."""
    fitting = [group for group, other in zip(groups, shown, strict=True) if other == code]
    # To choose one of two groups of the same label would deny the other, which is false.
    if code == _MISSING or len(fitting) > 1 or (not fitting and _MISSING in shown):
        return CANNOT_TELL
    return fitting[0] if fitting else NONE


def _coded(labels: Iterable[object] | npt.NDArray[np.generic]) -> tuple[list[str], list[int]]:
    """Return the names of the labels there are, and for each image its place among them."""
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise InvalidParameterError(
            f"labels of shape {labels.shape} are no list; give one label for each image, (n,)."
        )
    places: dict[object, int] = {}
    codes = []
    for label in labels:
        plain = label.item() if isinstance(label, np.generic) else label
        codes.append(_MISSING if _is_missing(plain) else places.setdefault(plain, len(places)))
    names = [f"label {label}" if str(label) in RESERVED else str(label) for label in places]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(
            f"Two different labels are both written {twice!r}, so answers could not tell them "
            "apart; give all labels in one type."
        )
    return names, codes


def _is_missing(label: object) -> bool:
    is_nan = isinstance(label, float) and math.isnan(label)
    return label is None or is_nan or label in ("", _MISSING)
