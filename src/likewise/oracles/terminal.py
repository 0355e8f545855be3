"""A person at a terminal: file names to look at, one key to answer with."""

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
    Answer,
    Question,
)
from likewise.errors import AnswersEndedError, InvalidParameterError

_UNDO, _STOP = "\0undo", "\0stop"  # nobody types these
_KEYS = {" ": CANNOT_TELL, "x": BAD_IMAGE, "u": _UNDO, "q": _STOP}
_PAIR_KEYS = {**_KEYS, "s": SAME, "d": DIFFERENT}
_CHOICE_KEYS = {**_KEYS, "n": NONE, "+": NEW}
# A label may be any word, "x" too, so that commands need a colon there.
_LABEL_KEYS = {key if key == " " else f":{key}": said for key, said in _KEYS.items()}
_HELP = "space can't tell · x bad image · u undo · q stop"
_LABEL_HELP = "space can't tell · :x bad image · :u undo · :q stop"


def _write_line(text: str) -> None:
    sys.stdout.write(text + "\n")


class TerminalOracle:
    """Ask in a terminal; every key is followed by Enter.

    Parameters
    ----------
    criterion : str
        What the images are sorted by, in the person's words: ``"season"``.
    name : callable
        Gives the name to show for an image, such as ``collection.name``.
    called : callable
        Gives the name to show for the key of a group.
    read : callable
        Shows a prompt and returns one line, as `input` does.
    write : callable
        Shows one line.
    who : str
        Written into the answers.
    clock : callable
        Seconds, to note how long an answer took.
    """

    def __init__(
        self,
        criterion: str,
        name: Callable[[int], str] = str,
        *,
        called: Callable[[str], str] = str,
        read: Callable[[str], str] = input,
        write: Callable[[str], object] = _write_line,
        who: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.criterion, self.name, self.who = criterion, name, who
        self._called, self._read, self._write, self._clock = called, read, write, clock

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """Return one answer for each question, in order.

        ``u`` goes back to the question before, as far as the first one of this call.

        Raises
        ------
        AnswersEndedError
            If the person stops, or the input ends; it carries the answers given so far.
        """
        given: list[Answer] = []
        while len(given) < len(questions):
            said = self._ask(questions[len(given)])
            if isinstance(said, Answer):
                given.append(said)
            elif said == _STOP:
                raise AnswersEndedError(given, len(questions))
            elif given:
                given.pop()
            else:
                self._write("There is nothing to take back here.")
        return given

    def _ask(self, question: Question) -> Answer | str:
        """Show one question until it is answered, or undo or stop is said."""
        prompt = self._show(question)
        shown_at = self._clock()
        while True:
            try:
                key = self._read(prompt).rstrip("\r\n")
            except EOFError:
                return _STOP
            said = _meaning(question, " " if key.isspace() else key.strip())
            if said in (_UNDO, _STOP):
                return said
            try:
                return self._noted(question, said, self._clock() - shown_at)
            except InvalidParameterError:
                wrong = "cannot name a group;" if question.kind == "label" else "is no answer here:"
                self._write(f"{said!r} {wrong} {prompt.removesuffix(' > ')}.")

    def _noted(self, question: Question, said: str, seconds: float) -> Answer:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Answer(question, said, self.who, self.criterion, now, seconds)

    def _show(self, question: Question) -> str:
        """Write the question, and return the prompt with the keys that answer it."""
        names = [self.name(image) for image in question.images]
        if question.kind == "pair":
            self._write(f"Same {self.criterion}?  {names[0]}  |  {names[1]}")
            return f"s same · d different · {_HELP} > "
        self._write(f"Which {self.criterion}?  {names[0]}")
        if question.kind == "label":
            return f"type its name · {_LABEL_HELP} > "
        for number, (group, like) in enumerate(zip(question.groups, names[1:], strict=True), 1):
            self._write(f"  {number}  {self._called(group)}, like {like}")
        return f"1-{len(question.groups)} · n none of these · + a new one · {_HELP} > "


def _meaning(question: Question, key: str) -> str:
    """Return the answer a key stands for; what stands for none is returned as it is."""
    if question.kind == "label":
        return _LABEL_KEYS.get(key, key)
    if question.kind == "pair":
        return _PAIR_KEYS.get(key.lower(), key)
    groups = {str(number): group for number, group in enumerate(question.groups, 1)}
    return (_CHOICE_KEYS | groups).get(key.lower(), key)
