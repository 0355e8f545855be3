"""How long a run took, part by part, and how much memory."""

import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any


class Clock:
    """Adds up the seconds of named parts.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("embed"):
    ...     pass
    >>> sorted(clock.seconds())
    ['ask', 'embed', 'total', 'train']
    """

    def __init__(self) -> None:
        self._spent: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Count the time inside ``with`` for `part`."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._spent[part] += time.perf_counter() - begin

    def time_calls(self, owner: object, name: str) -> None:
        """Count every call of a method of one object for the part of the same name."""
        method: Any = getattr(owner, name)

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self(name):
                return method(*args, **kwargs)

        setattr(owner, name, timed)

    def seconds(self) -> dict[str, float]:
        """Return the parts every row has; what `fit` spent without asking is training.

        Questions chosen inside a training step (the papers' cadence) count as training.
        """
        spent = self._spent
        parts = {
            "embed": spent["embed"],
            "ask": spent["ask"],
            "train": spent["fit"] - spent["ask"],
            "total": spent["total"],
        }
        return {name: round(seconds, 3) for name, seconds in parts.items()}


def peak_memory_mb() -> float:
    """Return the most memory this process ever held, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)
