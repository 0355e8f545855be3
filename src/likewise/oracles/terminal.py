"""TerminalOracle: a person answers questions in the terminal, by file names and single keys."""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from likewise.constraints.question import (
    BAD_IMAGE,
    CANNOT_TELL,
    DIFFERENT,
    NEW,
    NONE,
    SAME,
    TICKED,
    Answer,
    Question,
)
from likewise.errors import AnswersEndedError, InvalidParameterError

_UNDO, _STOP = "\0undo", "\0stop"  # cannot be typed
_KEYS = {" ": CANNOT_TELL, "x": BAD_IMAGE, "u": _UNDO, "q": _STOP}
_PAIR_KEYS = {**_KEYS, "s": SAME, "d": DIFFERENT}
_CHOICE_KEYS = {**_KEYS, "n": NONE, "+": NEW}
# A label may be any text, also "x", so commands have a colon there.
_LABEL_KEYS = {key if key == " " else f":{key}": answer for key, answer in _KEYS.items()}
_HELP = "space can't tell · x bad image · u undo · q stop"
_GRID_HELP = "space can't tell · x 3 5 bad images · u undo · q stop"
_LABEL_HELP = "space can't tell · :x bad image · :u undo · :q stop"


def _write_line(text: str) -> None:
    sys.stdout.write(text + "\n")


class TerminalOracle:
    """Ask questions in a terminal; every key is followed by Enter, except with `read_key`.

    Parameters
    ----------
    criterion : str
        What the images are grouped by, for example ``"season"``.
    name : callable
        Returns the displayed name of an image, for example ``collection.name``.
    called : callable
        Returns the displayed name of a group, given its key.
    read : callable
        Shows a prompt and returns a line, as `input` does.
    read_key : callable, optional
        Shows a prompt and returns one key, for pairs and choices; by default `read`.
    write : callable
        Shows a line.
    who : str
        Stored in the answers.
    clock : callable
        Returns the time in seconds, to measure how long an answer takes.
    """

    def __init__(
        self,
        criterion: str,
        name: Callable[[int], str] = str,
        *,
        called: Callable[[str], str] = str,
        read: Callable[[str], str] = input,
        read_key: Callable[[str], str] | None = None,
        write: Callable[[str], object] = _write_line,
        who: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.criterion = criterion
        self.name = name
        self.who = who
        self._called, self._read, self._write, self._clock = called, read, write, clock
        self._read_key = read_key or read

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return an answer for each question, in order.

        ``u`` returns to the previous question, at most to the first one of this call.

        Raises
        ------
        AnswersEndedError
            If the person stops, or the input ends; it contains the answers given so far.
        """
        given: list[Answer] = []
        while len(given) < len(questions):
            reply = self._ask(questions[len(given)])
            if isinstance(reply, Answer):
                given.append(reply)
            elif reply == _STOP:
                raise AnswersEndedError(given, len(questions))
            elif given:
                given.pop()
            else:
                self._write("There is no answer to undo.")
        return given

    def _ask(self, question: Question) -> Answer | str:
        """Show a question until there is an answer, undo or stop."""
        prompt = self._show(question)
        shown_at = self._clock()
        read = self._read_key if question.kind in ("pair", "choice") else self._read
        while True:
            try:
                key = read(prompt).rstrip("\r\n")
            except EOFError:
                return _STOP
            reply, ticked = _parse_key(question, " " if key.isspace() else key.strip())
            if reply in (_UNDO, _STOP):
                return reply
            try:
                return self._make_answer(question, reply, ticked, self._clock() - shown_at)
            except InvalidParameterError:
                wrong = "cannot name a group;" if question.kind == "label" else "is not an answer:"
                self._write(f"{reply!r} {wrong} {prompt.removesuffix(' > ')}.")

    def _make_answer(
        self, question: Question, answer: str, ticked: tuple[int, ...], seconds: float
    ) -> Answer:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Answer(question, answer, self.who, self.criterion, now, seconds, ticked)

    def _show(self, question: Question) -> str:
        """Write the question, and return the prompt with the possible keys."""
        names = [self.name(image) for image in question.images]
        if question.kind == "pair":
            self._write(f"Same {self.criterion}?  {names[0]}  |  {names[1]}")
            return f"s same · d different · {_HELP} > "
        if question.kind == "grid":
            group = self._called(question.groups[0])
            self._write(f"Which are not {group}, like {names[-1]}?")
            for number, name in enumerate(names[:-1], 1):
                self._write(f"  {number}  {name}")
            return f"numbers of those that are not, Enter if all are · {_GRID_HELP} > "
        self._write(f"Which {self.criterion}?  {names[0]}")
        if question.kind == "label":
            return f"type its name · {_LABEL_HELP} > "
        for number, (group, like) in enumerate(zip(question.groups, names[1:], strict=True), 1):
            self._write(f"  {number}  {self._called(group)}, like {like}")
        return f"1-{len(question.groups)} · n none of these · + a new one · {_HELP} > "


def _parse_key(question: Question, key: str) -> tuple[str, tuple[int, ...]]:
    """Return the answer that a key means, and ticked images; other text is returned unchanged."""
    if question.kind == "grid":
        return _parse_numbers(question, key)
    if question.kind == "label":
        return _LABEL_KEYS.get(key, key), ()
    if question.kind == "pair":
        return _PAIR_KEYS.get(key.lower(), key), ()
    groups = {str(number): group for number, group in enumerate(question.groups, 1)}
    return (_CHOICE_KEYS | groups).get(key.lower(), key), ()


def _parse_numbers(question: Question, text: str) -> tuple[str, tuple[int, ...]]:
    """Return the answer to a grid, typed as numbers such as ``3 5,12``, after ``x`` if bad."""
    if text.lower() in _KEYS and text.lower() != "x":
        return _KEYS[text.lower()], ()
    is_bad = text[:1].lower() == "x"
    words = text[is_bad:].replace(",", " ").split()
    number_of = {str(number): image for number, image in enumerate(question.asked, 1)}
    if not all(word in number_of for word in words) or (is_bad and not words):
        return text, ()
    ticked = tuple(dict.fromkeys(number_of[word] for word in words))
    return BAD_IMAGE if is_bad else TICKED, ticked
