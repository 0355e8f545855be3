"""One answer as one line of JSON: the portable form of the log, images by content hash."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from likewise.constraints.question import RESERVED, Answer, Kind, Question
from likewise.errors import AnswersFileError, LikewiseError, UnknownNameError

KINDS: tuple[Kind, ...] = get_args(Kind)
N_IMAGES = {"pair": 2, "label": 1}  # a choice has one more than groups


def to_line(answer: Answer, identities: Sequence[str]) -> dict[str, Any]:
    """Return an answer in the form of one line of a JSON Lines file.

    Parameters
    ----------
    answer : Answer
    identities : sequence of str
        The content hash of each image of the collection.

    Examples
    --------
    >>> to_line(Answer(Question.pair(0, 1), "same", who="ada"), ["c0ffee", "5eed"])["images"]
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
    return line | {
        "criterion": answer.criterion,
        "who": answer.who,
        "at": answer.at,
        "seconds": answer.seconds,
    }


def from_line(line: object, positions: Mapping[str, int]) -> Answer:
    """Return the answer in one line, already parsed from JSON.

    Fields that are not known are passed over; ``group``, ``criterion``,
    ``who``, ``at`` and ``seconds`` may be missing or null. Release 0.1 wrote
    ``orientation`` for ``criterion``.

    Parameters
    ----------
    line : dict
    positions : mapping of str to int
        The position of each content hash in the collection.

    Raises
    ------
    AnswersFileError
        If a field is missing or of a wrong type, the kind is not known, an
        image is not in the collection, or the answer does not fit the question.
    """
    if not isinstance(line, dict):
        raise AnswersFileError(
            f"{line!r:.60} is not an answer; a line is an object like "
            '{"kind": "pair", "images": [...], "answer": "same"}.'
        )
    try:
        return Answer(
            _question(line, positions),
            _word(line),
            who=_text(line, "who"),
            criterion=_text(line, "criterion") or _text(line, "orientation"),
            at=_text(line, "at"),
            seconds=_seconds(line),
        )
    except AnswersFileError:
        raise
    except LikewiseError as error:  # an importer need catch one kind of error only
        raise AnswersFileError(str(error)) from error


def _question(line: dict[str, Any], positions: Mapping[str, int]) -> Question:
    """Return the question a line answers."""
    kind = _required(line, "kind", str)
    if kind not in KINDS:
        raise UnknownNameError("kind of question", kind, KINDS)
    hashes = _texts(line, "images")
    groups = _texts(line, "groups") if kind == "choice" else ()
    n_images = N_IMAGES.get(kind, 1 + len(groups))
    if len(hashes) != n_images:
        raise AnswersFileError(
            f"'images' holds {len(hashes)} images; a {kind} question "
            f"{f'with {len(groups)} groups ' if groups else ''}has {n_images}."
        )
    if len(set(hashes)) < len(hashes):
        twice = next(identity for identity in hashes if hashes.count(identity) > 1)
        raise AnswersFileError(f"Image {twice} was paired with itself; name different images.")
    images = tuple(_position(identity, positions) for identity in hashes)
    if kind == "pair":
        return Question.pair(*images)
    if kind == "label":
        return Question.label(*images)
    return Question.choice(images[0], images[1:], groups)


def _word(line: dict[str, Any]) -> str:
    """Return the answer proper; a group, where given, must say the same."""
    word: str = _required(line, "answer", str)
    group = line.get("group")
    if group is not None and group != word:
        raise AnswersFileError(
            f"'group' is {group!r} but 'answer' is {word!r}; let both name the group chosen, "
            "or leave 'group' out."
        )
    return word


def _position(identity: str, positions: Mapping[str, int]) -> int:
    """Return where an image is in the collection."""
    if identity not in positions:
        raise AnswersFileError(
            f"Image {identity} is not in this collection of {len(positions)} images; "
            "the answer is about another picture, or its file has changed."
        )
    return positions[identity]


def _required(line: dict[str, Any], field: str, wanted: type[str | list[Any]]) -> Any:
    """Return a field that must be there."""
    if field not in line:
        raise AnswersFileError(
            f"The field {field!r} is missing; a line needs kind, images, answer."
        )
    if not isinstance(line[field], wanted):
        raise _wrong_type(line, field, "text" if wanted is str else "a list of texts")
    return line[field]


def _texts(line: dict[str, Any], field: str) -> tuple[str, ...]:
    """Return a field that must be a list of texts."""
    values = _required(line, field, list)
    if not all(isinstance(value, str) for value in values):
        raise _wrong_type(line, field, "a list of texts")
    return tuple(values)


def _text(line: dict[str, Any], field: str) -> str:
    """Return a text that may be missing."""
    return "" if line.get(field) is None else str(_required(line, field, str))


def _seconds(line: dict[str, Any]) -> float | None:
    """Return how long the answer took, if that was noted."""
    seconds = line.get("seconds")
    if seconds is None:
        return None
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not math.isfinite(seconds) or seconds < 0:
        raise _wrong_type(line, "seconds", "a number of seconds from 0 on, or null")
    return float(seconds)


def _wrong_type(line: dict[str, Any], field: str, wanted: str) -> AnswersFileError:
    """Return the error for a field of a wrong type."""
    return AnswersFileError(f"The field {field!r} is {line[field]!r:.60}; it must be {wanted}.")


def question_to_json(question: Question) -> dict[str, Any]:
    """Return a question as JSON, with image positions."""
    return {
        "kind": question.kind,
        "images": list(question.images),
        "groups": list(question.groups),
    }


def question_from_json(line: dict[str, Any]) -> Question:
    """Return the question of a JSON object, checked."""
    images, groups = line["images"], line["groups"]
    if line["kind"] == "pair":
        return Question.pair(*images)
    if line["kind"] == "choice":
        return Question.choice(images[0], tuple(images[1:]), tuple(groups))
    return Question.label(*images)
