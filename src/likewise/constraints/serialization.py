"""Questions and answers as JSON: lines of an answers file, messages, and rows of a saved model.

In an answers file, images are content hashes, so that it can be used with another
copy of the collection. In messages between processes and in saved models, which
refer to one collection only, images are indexes.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from likewise.constraints.question import RESERVED, Answer, Question
from likewise.errors import AnswersFileError, LikewiseError

_CRITERION_0_1 = "orientation"  # the name of the field `criterion` in release 0.1


def answer_to_line(answer: Answer, identities: Sequence[str]) -> dict[str, Any]:
    """Return an answer as one line of a JSON Lines file.

    Parameters
    ----------
    answer : Answer
    identities : sequence of str
        The content hash of each image of the collection.

    Examples
    --------
    >>> answer = Answer(Question.pair(0, 1), "same", who="ada")
    >>> answer_to_line(answer, ["c0ffee", "5eed"])["images"]
    ['c0ffee', '5eed']
    """
    question = answer.question
    line: dict[str, Any] = {
        "kind": question.kind,
        "images": [identities[image] for image in question.images],
        "answer": answer.answer,
        "group": None if answer.answer in RESERVED else answer.answer,
    }
    if question.kind == "choice":
        line["groups"] = list(question.groups)
    if question.kind == "grid":
        line["group"] = question.groups[0]
        line["ticked"] = [identities[image] for image in answer.ticked]
    return line | {
        "criterion": answer.criterion,
        "who": answer.who,
        "at": answer.at,
        "seconds": answer.seconds,
    }


def answer_from_line(line: object, positions: Mapping[str, int]) -> Answer:
    """Return the answer in one line, already parsed from JSON.

    Unknown fields are ignored; ``group`` (except of a grid), ``criterion``, ``who``, ``at`` and
    ``seconds`` may be missing or null. Release 0.1 wrote ``orientation`` for
    ``criterion``.

    Parameters
    ----------
    line : dict
    positions : mapping of str to int
        The index of each content hash in the collection.

    Raises
    ------
    AnswersFileError
        If a field is missing or has a wrong type, the kind is unknown, an
        image is not in the collection, or the answer does not fit the question.
    """
    if not isinstance(line, dict):
        raise AnswersFileError(
            'A line must be an object like {"kind": "pair", "images": [...], "answer": "same"}, '
            f"got {line!r:.60}."
        )
    try:
        question = _question_from_line(line, positions)
        ticked = _texts(line, "ticked") if question.kind == "grid" and line.get("ticked") else ()
        return Answer(
            question,
            _answer_value(line),
            who=_text(line, "who"),
            criterion=_text(line, "criterion") or _text(line, _CRITERION_0_1),
            at=_text(line, "at"),
            seconds=_seconds(line),
            ticked=tuple(_position(identity, positions) for identity in ticked),
        )
    except AnswersFileError:
        raise
    except LikewiseError as error:  # callers need to catch one type of error only
        raise AnswersFileError(str(error)) from error


def question_to_json(question: Question) -> dict[str, Any]:
    """Return a question as a JSON object, images as indexes."""
    return {
        "kind": question.kind,
        "images": list(question.images),
        "groups": list(question.groups),
    }


def question_from_json(fields: Mapping[str, Any]) -> Question:
    """Return the question in an object of `question_to_json`, checked."""
    return Question.build(fields["kind"], tuple(fields["images"]), tuple(fields["groups"]))


def answer_to_row(answer: Answer) -> list[Any]:
    """Return an answer as a JSON list, images as indexes.

    The list holds kind, images, groups, answer, who, at, seconds, and the ticked
    images of a grid. The criterion is left out, because a saved model has only one.
    """
    question = answer.question
    return [
        question.kind,
        list(question.images),
        list(question.groups),
        answer.answer,
        answer.who,
        answer.at,
        answer.seconds,
        *([list(answer.ticked)] if question.kind == "grid" else []),
    ]


def answer_from_row(row: Sequence[Any]) -> Answer:
    """Return the answer in a list of `answer_to_row`, checked."""
    kind, images, groups, value, who, at, seconds, *later = row
    question = Question.build(kind, tuple(images), tuple(groups))
    ticked = tuple(later[0]) if later else ()
    return Answer(question, value, who=who, at=at, seconds=seconds, ticked=ticked)


def _question_from_line(line: dict[str, Any], positions: Mapping[str, int]) -> Question:
    """Return the question that a line answers."""
    kind = _required(line, "kind", str)
    hashes = _texts(line, "images")
    groups = _texts(line, "groups") if kind == "choice" else ()
    if kind == "grid":
        groups = (_required(line, "group", str),)
    if len(set(hashes)) < len(hashes):
        twice = next(identity for identity in hashes if hashes.count(identity) > 1)
        raise AnswersFileError(
            f"The images of a question must be different, got image {twice} twice."
        )
    images = tuple(_position(identity, positions) for identity in hashes)
    return Question.build(kind, images, groups)


def _answer_value(line: dict[str, Any]) -> str:
    """Return the field ``answer``; ``group``, if given, must be equal to it, except of a grid."""
    value: str = _required(line, "answer", str)
    group = line.get("group")
    if group is not None and group != value and line["kind"] != "grid":
        raise AnswersFileError(
            f"'group' must be equal to 'answer' or missing, got {group!r} and {value!r}."
        )
    return value


def _position(identity: str, positions: Mapping[str, int]) -> int:
    """Return the index of an image in the collection."""
    if identity not in positions:
        raise AnswersFileError(
            f"Image {identity} is not in this collection of {len(positions)} images; "
            "the answer is about another image, or the file has changed."
        )
    return positions[identity]


def _required(line: dict[str, Any], field: str, wanted: type[str | list[Any]]) -> Any:
    """Return a required field."""
    if field not in line:
        raise AnswersFileError(
            f"The field {field!r} is missing; a line must have kind, images and answer."
        )
    if not isinstance(line[field], wanted):
        raise _wrong_type(line, field, "a string" if wanted is str else "a list of strings")
    return line[field]


def _texts(line: dict[str, Any], field: str) -> tuple[str, ...]:
    """Return a required field that is a list of strings."""
    values = _required(line, field, list)
    if not all(isinstance(value, str) for value in values):
        raise _wrong_type(line, field, "a list of strings")
    return tuple(values)


def _text(line: dict[str, Any], field: str) -> str:
    """Return an optional string."""
    return "" if line.get(field) is None else str(_required(line, field, str))


def _seconds(line: dict[str, Any]) -> float | None:
    """Return how long the answer took, if known."""
    seconds = line.get("seconds")
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not math.isfinite(seconds) or seconds < 0:
        raise _wrong_type(line, "seconds", "a number >= 0 or null")
    return float(seconds)


def _wrong_type(line: dict[str, Any], field: str, wanted: str) -> AnswersFileError:
    """Return the error for a field with a wrong type."""
    return AnswersFileError(f"The field {field!r} must be {wanted}, got {line[field]!r:.60}.")
