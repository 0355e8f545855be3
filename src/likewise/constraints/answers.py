"""Answers by id: those of a long log in columns, each made an object when it is first needed."""

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isnan, nan
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from likewise.constraints.question import Answer, Kind, Question


class Shape(NamedTuple):
    """What many answers have in common: all but their images, time and duration."""

    kind: Kind
    groups: tuple[str, ...]
    answer: str
    who: str
    criterion: str


@dataclass(frozen=True)
class AnswerColumns:
    """Answers in the order of their ids, about 80 bytes each.

    Parameters
    ----------
    ids : array of shape (n,)
    starts : array of shape (n + 1,)
        The images of answer `i` are ``images[starts[i]:starts[i + 1]]``.
    images : array of shape (m,)
    codes : array of shape (n,)
        Position in `shapes`.
    shapes : sequence of Shape
    at : sequence of str or bytes
    seconds : array of shape (n,)
        NaN if unknown.
    ticked : dict
        The ticked images of grids by id, if there are any.
    """

    ids: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    images: npt.NDArray[np.int32]
    codes: npt.NDArray[np.int32]
    shapes: Sequence[Shape]
    at: npt.NDArray[np.bytes_] | Sequence[str]
    seconds: npt.NDArray[np.float64]
    ticked: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[tuple[int, Answer]]) -> Self:
        """Return answers, given with increasing ids, as columns."""
        listed = list(answers)
        codes: dict[Shape, int] = {}
        found = [
            codes.setdefault(
                Shape(a.question.kind, a.question.groups, a.answer, a.who, a.criterion), len(codes)
            )
            for _, a in listed
        ]
        images = [a.question.images for _, a in listed]
        return cls(
            np.array([number for number, _ in listed], dtype=np.int64),
            np.cumsum([0, *map(len, images)], dtype=np.int64),
            np.array([*chain.from_iterable(images)], dtype=np.int32),
            np.array(found, dtype=np.int32),
            list(codes),
            [a.at for _, a in listed],
            np.array([nan if a.seconds is None else a.seconds for _, a in listed]),
            {number: a.ticked for number, a in listed if a.ticked},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def of_row(self, row: int) -> Answer:
        """Return an answer as an object."""
        shape, seconds, at = self.shapes[self.codes[row]], float(self.seconds[row]), self.at[row]
        images = self.images[self.starts[row] : self.starts[row + 1]].tolist()
        return Answer(
            Question(shape.kind, tuple(images), shape.groups),
            shape.answer,
            shape.who,
            shape.criterion,
            _text(at),
            None if isnan(seconds) else seconds,
            self.ticked.get(int(self.ids[row]), ()) if self.ticked else (),
        )

    def of_id(self, number: int) -> Answer:
        """Return the answer with an id, which must be one of `ids`, as an object."""
        return self.of_row(int(np.searchsorted(self.ids, number)))

    def take(self, rows: npt.NDArray[Any]) -> Self:
        """Return the answers at some rows, given as indexes or as a mask."""
        ids = self.ids[rows]
        places = np.arange(len(self))[rows]
        lengths = np.diff(self.starts)[places]
        starts = np.cumsum([0, *lengths], dtype=np.int64)
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        at = self.at[places] if isinstance(self.at, np.ndarray) else [self.at[i] for i in places]
        return type(self)(
            ids,
            starts,
            self.images[np.repeat(self.starts[places], lengths) + inside],
            self.codes[places],
            self.shapes,
            at,
            self.seconds[places],
            {n: self.ticked[n] for n in ids.tolist() if n in self.ticked} if self.ticked else {},
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return the answers of several parts, in the order of their ids."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.starts) for part in parts])
        offsets = np.cumsum([0, *(len(part.shapes) for part in parts)])
        all_bytes = all(isinstance(part.at, np.ndarray) for part in parts)
        joined = cls(
            np.concatenate([part.ids for part in parts]),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([part.images for part in parts]),
            np.concatenate([part.codes + n for part, n in zip(parts, offsets[:-1], strict=True)]),
            [shape for part in parts for shape in part.shapes],
            np.concatenate([part.at for part in parts])
            if all_bytes
            else [_text(at) for part in parts for at in part.at],
            np.concatenate([part.seconds for part in parts]),
            {number: images for part in parts for number, images in part.ticked.items()},
        )
        is_sorted = bool((np.diff(joined.ids) > 0).all())
        return joined if is_sorted else joined.take(np.argsort(joined.ids))


def _text(at: str | bytes) -> str:
    return at.decode() if isinstance(at, bytes) else at


Value = TypeVar("Value")


class LazyMap(MutableMapping[int, Value]):
    """Values by id, in a fixed order; each is made when it is first needed, then kept.

    Parameters
    ----------
    make : callable
        Returns the value of an id.
    ids : iterable of int

    Examples
    --------
    >>> squares = LazyMap(lambda number: number**2, [3, 4])
    >>> squares[4], list(squares), 5 in squares
    (16, [3, 4], False)
    """

    def __init__(self, make: Callable[[int], Value], ids: Iterable[int] = ()) -> None:
        self._make = make
        self._made: dict[int, Value | None] = dict.fromkeys(ids)  # None: not made yet

    def __getitem__(self, number: int) -> Value:
        made = self._made[number]
        if made is None:
            made = self._made[number] = self._make(number)
        return made

    def __setitem__(self, number: int, value: Value) -> None:
        self._made[number] = value

    def add(self, number: int) -> None:
        """Add an id whose value is made when it is first needed."""
        self._made[number] = None

    def made(self) -> dict[int, Value]:
        """Return the values that were made or set."""
        return {number: value for number, value in self._made.items() if value is not None}

    def __delitem__(self, number: int) -> None:
        del self._made[number]

    def __contains__(self, number: object) -> bool:
        return number in self._made

    def __iter__(self) -> Iterator[int]:
        return iter(self._made)

    def __reversed__(self) -> Iterator[int]:
        return reversed(self._made)

    def __len__(self) -> int:
        return len(self._made)


class Answers(LazyMap[Answer]):
    """Answers by increasing id.

    Parameters
    ----------
    columns : AnswerColumns, optional
        Those that are made when they are needed.
    ids : iterable of int, optional
        The ids of the answers to include, in order; by default those in `columns`. One that is
        not in `columns` must be set before it is used.

    Examples
    --------
    >>> answers = Answers()
    >>> answers[3] = Answer(Question.pair(0, 1), "same")
    >>> Answers(answers.columns()) == answers
    True
    """

    def __init__(
        self, columns: AnswerColumns | None = None, ids: Iterable[int] | None = None
    ) -> None:
        self._columns = AnswerColumns.of([]) if columns is None else columns
        super().__init__(self._columns.of_id, self._columns.ids.tolist() if ids is None else ids)

    def given(self, answer: str) -> dict[int, Answer]:
        """Return the answers with this value."""
        columns = self.columns()
        codes = [code for code, shape in enumerate(columns.shapes) if shape.answer == answer]
        return {n: self[n] for n in columns.ids[np.isin(columns.codes, codes)].tolist()}

    def columns(self) -> AnswerColumns:
        """Return all answers as columns."""
        numbers = np.fromiter(self, dtype=np.int64, count=len(self))
        kept = np.isin(self._columns.ids, numbers, assume_unique=True)
        others = numbers[~np.isin(numbers, self._columns.ids, assume_unique=True)].tolist()
        first = self._columns if kept.all() else self._columns.take(kept)
        if not others:
            return first
        return AnswerColumns.join([first, AnswerColumns.of((n, self[n]) for n in others)])
