"""The exceptions and warnings of the package.

An error message has one shape: what must hold, what was given, what to do. The
command line prints it after ``Error:`` and the page shows it unchanged, so it
must be clear to a user who does not know the code.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class LikewiseError(Exception):
    """Base class of all errors that are raised on purpose."""


class InvalidParameterError(LikewiseError, ValueError):
    """A parameter has an invalid value."""


class UnknownNameError(InvalidParameterError):
    """A name is not one of the known names.

    Parameters
    ----------
    what : str
        Kind of the named object, for the message: ``"method"``.
    name : str
        The given name.
    known : iterable of str
        The valid names.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known: list[str] = sorted(known)
        close = difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}? Choose" if close else "choose"
        choice = f"{hint} one of: {', '.join(self.known)}"
        advice = choice if self.known else "there is none: leave it out"
        super().__init__(f"{name!r} is not a known {what}; {advice}.")


class CollectionError(LikewiseError, ValueError):
    """A folder, list or array of images cannot be used as a collection."""


class ImageError(LikewiseError, OSError):
    """An image cannot be read."""


class PoolExhaustedError(LikewiseError):
    """More questions were requested than pairs are left to ask about."""


class AnswersFileError(LikewiseError, ValueError):
    """An answers file has invalid lines."""


class SessionError(LikewiseError, OSError):
    """A session cannot be opened, read or written."""


class SessionBusyError(SessionError):
    """Another process is writing to this session."""


class NoGroupsError(SessionError):
    """A criterion has no groups yet: it was not trained."""


class NewerSessionError(SessionError):
    """The session was written by a newer release."""


class EncoderError(LikewiseError):
    """An encoder is not available, or does not return vectors."""


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


class PluginError(LikewiseError, ImportError):
    """An extension of another package cannot be loaded."""


class ModelFileError(LikewiseError, ValueError):
    """A saved model or checkpoint cannot be loaded."""


class DatasetError(LikewiseError):
    """A data set or its table of labels is missing, invalid or inconsistent."""


class SweepFileError(LikewiseError, ValueError):
    """A sweep file cannot be read, or describes a run that is impossible."""


class ResultsFileError(LikewiseError, ValueError):
    """A results file cannot be read, or lacks the requested rows."""


class UnansweredError(LikewiseError, LookupError):
    """The recorded answers contain no answer to a question."""


class AnswersEndedError(LikewiseError, EOFError):
    """The person stopped before the last question; `answers` has the answers so far."""

    def __init__(self, answers: Sequence[Any], n_questions: int) -> None:
        self.answers: list[Any] = list(answers)
        super().__init__(
            f"The answers ended after {len(self.answers)} of {n_questions} questions; "
            "they are stored. Run the command again to continue."
        )


class OutputError(LikewiseError, OSError):
    """A result cannot be written to the given path."""


class LikewiseWarning(UserWarning):
    """Base class of all warnings of the package."""
