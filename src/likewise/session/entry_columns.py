"""The log of a criterion read at once: its valid answers as columns, other entries as objects."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.answers import AnswerColumns, Shape
from likewise.constraints.question import MAX_GRID_SIZE, Answer, Question
from likewise.constraints.serialization import answer_to_line
from likewise.errors import LikewiseError
from likewise.session.criteria import Criterion
from likewise.session.database import Database
from likewise.session.images import Images
from likewise.session.log import Entry, parse_texts, read_rows, to_entry_or_invalid

_N_PER_READ = 20_000  # rows
_AT_LENGTH = 24  # of a time as `log.now` writes it
_ELSEWHERE = -1  # the code of entries that are kept as objects
_N_IMAGES = {"pair": 2, "label": 1}


@dataclass(frozen=True)
class EntryColumns:
    """The valid answers of a criterion, in the form in which `Session.tell` writes them.

    Parameters
    ----------
    answers : AnswerColumns
    actions : array of shape (n,)
        See `Entry.action`; 0 for None.
    criterion : int
    hashes : sequence of str
        The content hash of each image.
    """

    answers: AnswerColumns
    actions: npt.NDArray[np.int64]
    criterion: int
    hashes: Sequence[str]

    def of_id(self, number: int) -> Entry:
        """Return the entry with an id, which must be one of these."""
        row = int(np.searchsorted(self.answers.ids, number))
        line = answer_to_line(self.answers.of_row(row), self.hashes)
        return Entry(
            number,
            self.criterion,
            line["kind"],
            tuple(line["images"]),
            line["answer"],
            line["group"],
            tuple(line.get("groups", ())),
            None,
            line["who"],
            line["at"],
            line["seconds"],
            int(self.actions[row]) or None,
            tuple(line.get("ticked", ())),
        )


def read_columns(
    database: Database, criterion: Criterion, images: Images
) -> tuple[EntryColumns, list[Entry]]:
    """Return the log of a criterion: answers as columns, and all other entries, in order."""
    reader = _Reader(criterion.name, images)
    last = 0
    while rows := read_rows(database, criterion.id, last, _N_PER_READ):
        reader.add(rows)
        last = rows[-1][0]
    answers = AnswerColumns.join(reader.parts or [AnswerColumns.of([])])
    actions = np.concatenate([np.zeros(0, dtype=np.int64), *reader.actions])
    return EntryColumns(answers, actions, criterion.id, images.hashes), reader.others


class _Codes(dict[tuple[Any, ...], int]):
    """The position of what rows have in common, in `shapes`; `_ELSEWHERE` if that is not valid."""

    def __init__(self, criterion: str) -> None:
        super().__init__()
        self._criterion = criterion
        self.shapes: list[Shape] = []
        self.n_images: list[int] = []  # of each shape; 0 for a grid, which has any number

    def __missing__(self, key: tuple[Any, ...]) -> int:
        self[key] = self._add_shape(*key)
        return self[key]

    def _add_shape(self, kind: Any, value: Any, group: Any, shown: Any, who: Any) -> int:
        texts = [kind, value, who, *([group] if kind == "grid" else [])]
        if not all(isinstance(text, str) for text in texts):
            return _ELSEWHERE
        try:
            groups = parse_texts(shown) if kind == "choice" else (group,) * (kind == "grid")
            n_images = _N_IMAGES.get(kind, 1 + len(groups))
            question = Question.build(kind, tuple(range(n_images)), groups)
            answer = Answer(question, value, who, self._criterion)
            line = answer_to_line(answer, [""] * n_images)
        except (ValueError, TypeError, RecursionError, LikewiseError):
            return _ELSEWHERE
        if line["group"] != group or (shown is not None and kind != "choice"):
            return _ELSEWHERE
        self.shapes.append(Shape(question.kind, groups, value, who, self._criterion))
        self.n_images.append(0 if kind == "grid" else n_images)
        return len(self.shapes) - 1


class _Reader:
    """Reads rows of the log; those that need a closer look are collected as entries."""

    def __init__(self, criterion: str, images: Images) -> None:
        self._positions, self._codes = images.positions, _Codes(criterion)
        self.parts: list[AnswerColumns] = []
        self.actions: list[npt.NDArray[np.int64]] = []
        self.others: list[Entry] = []

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Read the next rows, with the columns of `read_rows`."""
        given = [
            row
            for row in rows
            if row[7] is None and isinstance(row[3], str) and isinstance(row[9], str)
        ]
        n_read = 0
        if given:
            with contextlib.suppress(TypeError, ValueError, OverflowError):  # of another program
                answers, actions, is_plain = self._columns(given)
                n_read = int(is_plain.sum())
                self.parts.append(answers if n_read == len(given) else answers.take(is_plain))
                self.actions.append(actions[is_plain])
        if n_read < len(rows):
            read = set(self.parts[-1].ids.tolist()) if n_read else set[int]()
            self.others += [to_entry_or_invalid(row) for row in rows if row[0] not in read]

    def _columns(
        self, rows: Sequence[tuple[Any, ...]]
    ) -> tuple[AnswerColumns, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Return rows as columns, their actions, and which of them the columns represent."""
        numbers, _, kinds, hashes, values, groups, shown, _, who, at, seconds, actions, ticked = (
            zip(*rows, strict=True)
        )
        common = zip(kinds, values, groups, shown, who, strict=True)
        codes = list(map(self._codes.__getitem__, common))
        lists = [text[2:-2].split('", "') for text in hashes]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        found = map(self._positions.get, chain.from_iterable(lists), repeat(-1))
        columns = AnswerColumns(
            np.array(numbers, dtype=np.int64),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.fromiter(found, np.int32, int(lengths.sum())),
            np.array(codes, dtype=np.int32),
            self._codes.shapes,
            np.array([one if one.isascii() else "" for one in at], dtype=f"S{_AT_LENGTH}"),
            np.array(seconds, dtype=np.float64),
        )
        action = np.array([one or 0 for one in actions], dtype=np.int64)
        is_plain = (
            self._has_images(columns)
            & np.array([text[:2] + text[-2:] == '[""]' for text in hashes])
            & (np.fromiter(map(len, at), np.int64, len(at)) == _AT_LENGTH)
            & (np.char.str_len(columns.at) == _AT_LENGTH)
            & ~((columns.seconds < 0) | np.isinf(columns.seconds))
            & (action >= 0)
            & (action < columns.ids)
        )
        for row, texts in enumerate(ticked):
            if texts is not None:
                is_plain[row] &= self._add_ticked(columns, row, texts)
        return columns, action, is_plain

    def _has_images(self, columns: AnswerColumns) -> npt.NDArray[np.bool_]:
        """Return which rows have a valid shape and the right number of distinct known images."""
        codes, starts, lengths = columns.codes, columns.starts[:-1], np.diff(columns.starts)
        wanted = np.array([*self._codes.n_images, _ELSEWHERE])[codes]
        is_right = np.where(wanted == 0, (lengths > 1) & (lengths <= MAX_GRID_SIZE + 1), False)
        is_right |= lengths == wanted
        is_right &= np.minimum.reduceat(columns.images, starts) >= 0
        is_pair = np.array([*(s.kind == "pair" for s in columns.shapes), False])[codes] & is_right
        first = starts[is_pair]
        is_right[is_pair] = columns.images[first] < columns.images[first + 1]
        for row in np.flatnonzero(is_right & ~is_pair & (lengths > 1)).tolist():
            images = columns.images[columns.starts[row] : columns.starts[row + 1]].tolist()
            is_right[row] = len(set(images)) == len(images)
        return is_right

    def _add_ticked(self, columns: AnswerColumns, row: int, texts: Any) -> bool:
        """Add the ticked images of a row; return whether they are valid."""
        try:
            found = [self._positions[one] for one in parse_texts(texts)]
        except (ValueError, TypeError, RecursionError, KeyError):
            return False
        if columns.codes[row] < 0 or columns.shapes[columns.codes[row]].kind != "grid":
            return False
        if found:
            columns.ticked[int(columns.ids[row])] = tuple(found)
        asked = columns.images[columns.starts[row] : columns.starts[row + 1] - 1].tolist()
        return set(found) <= set(asked) and len(set(found)) == len(found)
