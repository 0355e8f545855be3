"""What the trainer and its parent say to each other: one JSON object a line."""

import json
from typing import Any

from likewise.constraints.question import Question

Message = dict[str, Any]


def pack(message: Message) -> bytes:
    """Return a message as one line."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def unpack(line: bytes) -> Message | None:
    """Return the message in a line; None if it holds none, as when its writer was killed."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def from_question(question: Question) -> Message:
    """Return a question as JSON."""
    return {
        "kind": question.kind,
        "images": list(question.images),
        "groups": list(question.groups),
    }


def to_question(message: Message) -> Question:
    """Return the question in a message, built by the doors that check it."""
    images, groups = message["images"], message["groups"]
    if message["kind"] == "pair":
        return Question.pair(*images)
    if message["kind"] == "choice":
        return Question.choice(images[0], tuple(images[1:]), tuple(groups))
    return Question.label(*images)
