"""Answers worth a second look, as the page shows them; those a person stood by are left alone."""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.constraints.question import Question
from likewise.constraints.relation import Indexes
from likewise.desk.messages import Message
from likewise.session.answers import Entry
from likewise.session.atomic import write_whole
from likewise.session.words import in_words

FILE = "stood-by.json"
StoodBy = dict[int, tuple[int, ...]]


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


def from_suspects(
    suspects: Iterable[Any], number_of: Mapping[int, int], position_of: Sequence[int] | Indexes
) -> list[Message]:
    """Return what the trainer says of the suspects of a method.

    Parameters
    ----------
    suspects : iterable of Suspect
    number_of : mapping of int to int
        From the method's numbers of answers to those in the log.
    position_of : sequence of int
        From the method's images to their positions in the session.
    """
    return [
        {
            "answer": number_of[one.answer],
            "image": int(position_of[one.image]),
            "surprise": round(float(one.surprise), 4),
            "chain": [number_of[f.answer_id] for f in one.chain if f.answer_id in number_of],
        }
        for one in suspects
        if one.answer in number_of
    ]


def read_stood_by(folder: Path) -> StoodBy:
    """Return the answers a person stood by, each with the images whose place it confirms."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads((folder / FILE).read_text())
        return {int(number): tuple(map(int, images)) for number, images in kept.items()}
    return {}


class Suspicion:
    """The suspects of the last training, less those a person stood by.

    Parameters
    ----------
    folder : Path
        Of the orientation's model; what a person stood by is kept there, for the trainer too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._suspects: list[Message] = []
        self._image_of: dict[int, int] = {}  # of all suspects heard of: a page may be behind
        self._stood_by = read_stood_by(folder)

    def hear(self, suspects: list[Message]) -> None:
        """Take in what the trainer says."""
        self._suspects = suspects
        self._image_of |= {one["answer"]: one["image"] for one in suspects}

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

    def stand_by(self, number: int, question: Question) -> None:
        """Note, to disk before this returns, that an answer was meant as it is.

        That confirms the place of the image for which it was doubted. Where nobody remembers
        which one that was: of the image it is about, of both if it compares two.
        """
        about = question.images if question.kind == "pair" else question.images[:1]
        images = (self._image_of[number],) if number in self._image_of else about
        kept = {**self._stood_by, number: images}
        with in_words(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(kept).encode()
        write_whole(self._folder / FILE, lambda descriptor: os.write(descriptor, text))
        self._stood_by = kept
