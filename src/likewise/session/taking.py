"""The one door to the log: answers are checked as a whole, then written as a whole."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from likewise.constraints.question import RESERVED, Answer
from likewise.constraints.wire import from_line, to_line
from likewise.errors import InvalidParameterError
from likewise.session.answers import append, now
from likewise.session.groups import make
from likewise.session.images import Images
from likewise.session.orientations import Orientation, check_writable
from likewise.session.store import Store


def take_in(
    store: Store,
    images: Images,
    answers: Sequence[tuple[Orientation, Answer]],
) -> list[int]:
    """Write answers to the log in one transaction, durably, or none of them.

    Returns their numbers in the log. A label makes the group it names, where
    there is none of that key yet.
    """
    lines = [(orientation, checked_line(images, answer)) for orientation, answer in answers]
    numbers = []
    with store.transaction() as db:
        for orientation, line in lines:
            columns = {k: v for k, v in line.items() if k not in ("kind", "orientation")}
            numbers.append(append(db, orientation.id, line["kind"], **columns))
            if line["kind"] == "label" and line["answer"] not in RESERVED:
                make(db, orientation.id, key=line["answer"])
    return numbers


def stamped(answer: Answer) -> Answer:
    """Return an answer with the time it was given: now, if nobody noted it."""
    return answer if answer.at else replace(answer, at=now())


def checked_line(images: Images, answer: Answer) -> dict[str, Any]:
    """Return an answer in its portable form, or say why the log cannot hold it."""
    for image in answer.question.images:
        if not 0 <= image < len(images):
            raise InvalidParameterError(
                f"Image {image} is not in this session of {len(images)} images; they are "
                f"numbered 0 to {len(images) - 1}."
            )
    _check_distinct(images, answer)
    for what, text in [("answer", answer.answer), ("who", answer.who), ("at", answer.at)]:
        check_writable(what, text)
    for key in answer.question.groups:
        check_writable("group", key)
    if answer.seconds is not None and not math.isfinite(answer.seconds):
        raise InvalidParameterError(
            f"seconds={answer.seconds} is no duration; give a number, or None if nobody noted it."
        )
    line = to_line(answer, images.hashes)
    from_line(line, images.positions)  # what goes in must come out at the next start
    return line


def _check_distinct(images: Images, answer: Answer) -> None:
    """Refuse a question about two copies of one file: there is nothing to ask."""
    seen: dict[int, int] = {}
    for image in answer.question.images:
        first = int(images.first[image])
        if first in seen:
            raise InvalidParameterError(
                f"Images {seen[first]} and {image} are one picture (their files are equal), so "
                "there is nothing to ask; ask about two different pictures."
            )
        seen[first] = image
