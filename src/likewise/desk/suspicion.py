"""Answers worth a second look, as the page shows them; those a person stood by are left alone."""

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.desk.messages import Message
from likewise.session.answers import Entry

FILE = "stood-by.json"
_SENT = 20  # suspects that the trainer tells of


@dataclass(frozen=True)
class Doubt:
    """An answer that the rest makes doubtful.

    Parameters
    ----------
    entry : Entry
    surprise : float
        The chance, 0 to 1, that it was a slip.
    chain : tuple of Entry
        The answers that put the picture where nothing else would.
    """

    entry: Entry
    surprise: float
    chain: tuple[Entry, ...]


def from_suspects(suspects: Iterable[Any], number_of: Mapping[int, int]) -> list[Message]:
    """Return what the trainer says of the suspects of a method, by numbers in the log."""
    found = []
    for suspect in suspects:
        chain = [number_of[f.answer_id] for f in suspect.chain if f.answer_id in number_of]
        if suspect.answer in number_of:
            number, surprise = number_of[suspect.answer], round(float(suspect.surprise), 4)
            found.append({"answer": number, "surprise": surprise, "chain": chain})
    return found[:_SENT]


class Suspicion:
    """The suspects of the last training, less those a person stood by.

    Parameters
    ----------
    folder : Path
        Of the orientation's model; what a person stood by is kept there.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._suspects: list[Message] = []
        self._stood_by: set[int] = set()
        with contextlib.suppress(OSError, ValueError, TypeError):
            self._stood_by = {int(number) for number in json.loads(self._path.read_text())}

    def hear(self, suspects: list[Message]) -> None:
        """Take in what the trainer says."""
        self._suspects = suspects

    def doubts(self, standing: Mapping[int, Entry]) -> list[Doubt]:
        """Return the answers to look at again, the most doubtful first."""
        return [
            Doubt(
                standing[one["answer"]],
                one["surprise"],
                tuple(standing[n] for n in dict.fromkeys(one["chain"]) if n in standing),
            )
            for one in self._suspects
            if one["answer"] in standing and one["answer"] not in self._stood_by
        ]

    def stand_by(self, number: int) -> None:
        """Note that an answer was meant as it is."""
        self._stood_by.add(number)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps(sorted(self._stood_by)))
            fresh.replace(self._path)
