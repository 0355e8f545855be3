"""Every error the package raises on purpose.

A message says, in this order: the value that is wrong, why it cannot be, and
what to do next. The command line prints it after ``Error:`` and the page shows
it as it stands, so it must make sense to a person who never saw our code.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class LikewiseError(Exception):
    """Base of all deliberate errors; anything else that escapes is a bug."""


class InvalidParameterError(LikewiseError, ValueError):
    """A parameter has a value that can never work."""


class UnknownNameError(InvalidParameterError):
    """A name was given that is not among the known ones.

    Parameters
    ----------
    what : str
        What kind of thing was named, as a person says it: ``"method"``.
    name : str
        The name as it was given.
    known : iterable of str
        The names there are.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, sorted(known)
        close = difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? Choose" if close else "choose"
        choice = f"{hint} one of: {', '.join(self.known)}"
        advice = choice if self.known else "there is none: leave it out"
        super().__init__(f"{name!r} is not a known {what}; {advice}.")


class CollectionError(LikewiseError, ValueError):
    """A folder, list or array of pictures cannot be used as a collection."""


class ImageError(LikewiseError, OSError):
    """One picture cannot be read; it is left out by name, a run goes on."""


class PoolExhaustedError(LikewiseError):
    """More questions were asked for than there are pairs left to ask about."""


class AnswersFileError(LikewiseError, ValueError):
    """An answers file has lines that cannot be taken in."""


class SessionError(LikewiseError, OSError):
    """A session cannot be opened, read or written."""


class SessionBusyError(SessionError):
    """Another process is writing to this session."""


class NewerSessionError(SessionError):
    """The session was written by a newer release."""


class EncoderError(LikewiseError):
    """An encoder cannot be had, or does not give vectors."""


class MissingExtraError(LikewiseError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    what : str
        What needs it, as the subject of a sentence: ``"The method 'cc'"``.
    package : str
        The package that is missing.
    extra : str
        The extra that installs it.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed; "
            f"run `pip install 'likewise[{extra}]'`."
        )


class ModelFileError(LikewiseError, ValueError):
    """A saved model or checkpoint cannot be loaded as asked."""


class DatasetError(LikewiseError):
    """A data set or its table of labels is missing, broken or does not fit."""


class SweepFileError(LikewiseError, ValueError):
    """A sweep file cannot be read, or asks for what cannot be run."""


class ResultsFileError(LikewiseError, ValueError):
    """A file of results cannot be read, or lacks what is wanted of it."""


class UnansweredError(LikewiseError, LookupError):
    """A question was put to recorded answers that do not hold it."""


class AnswersEndedError(LikewiseError, EOFError):
    """The person stopped before the last question; `answers` holds what was given."""

    def __init__(self, answers: Sequence[Any], n_questions: int) -> None:
        self.answers = list(answers)
        super().__init__(
            f"The answers ended after {len(self.answers)} of {n_questions} questions; "
            "what was answered is kept, go on when you like."
        )


class OutputError(LikewiseError, OSError):
    """A result cannot be written where it was asked for."""


class LikewiseWarning(UserWarning):
    """Base of our warnings: nothing is lost, but a person should know."""
