"""Answers worth a second look, as the page shows them; those a person stood by are left alone."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from likewise.constraints.question import Question
from likewise.desk.messages import Message
from likewise.session.log import Entry
from likewise.types import Indexes


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


class Suspicion:
    """The suspects of the last training."""

    def __init__(self) -> None:
        self._suspects: list[Message] = []
        self._image_of: dict[int, int] = {}  # of all suspects heard of: a page may be behind

    def __bool__(self) -> bool:
        return bool(self._suspects)

    def hear(self, suspects: list[Message]) -> None:
        """Take in what the trainer says."""
        self._suspects = suspects
        self._image_of |= {one["answer"]: one["image"] for one in suspects}

    def doubts(self, standing: Mapping[int, Entry], stood_by: Container[int]) -> list[Doubt]:
        """Return the answers to look at again, the most doubtful first."""
        return [
            Doubt(
                standing[one["answer"]],
                one["surprise"],
                tuple(standing[n] for n in dict.fromkeys(one["chain"]) if n in standing),
            )
            for one in self._suspects
            if one["answer"] in standing and one["answer"] not in stood_by
        ]

    def confirmed_by(self, number: int, question: Question) -> tuple[int, ...]:
        """Return the images whose place is confirmed by standing by an answer.

        It is the image for which it was doubted. Where nobody remembers which one that was:
        the image it is about, both if it compares two.
        """
        about = question.images if question.kind == "pair" else question.images[:1]
        return (self._image_of[number],) if number in self._image_of else about
