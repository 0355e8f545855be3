"""Group commit: items that arrive during a write are written together, with one fsync for all."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class _Request(Generic[Item, Result]):
    item: Item
    result: Result | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return self.result is not None or self.error is not None


class GroupCommit(Generic[Item, Result]):
    """Calls `write` with all waiting items at once; each caller gets the result of its own item.

    The first caller writes for all that wait at that time. If a batch fails, its items are
    written one by one, so that an invalid item fails alone.

    Parameters
    ----------
    write : callable
        Takes a list of items and returns one result per item, none of them None; or raises
        without having written anything.

    Examples
    --------
    >>> GroupCommit(lambda numbers: [2 * number for number in numbers])(4)
    8
    """

    def __init__(self, write: Callable[[list[Item]], Sequence[Result]]) -> None:
        self._write = write
        self._waiting: list[_Request[Item, Result]] = []
        self._list_lock, self._write_lock = threading.Lock(), threading.Lock()

    def __call__(self, item: Item) -> Result:
        """Return the result of one item, or raise its error."""
        request: _Request[Item, Result] = _Request(item)
        with self._list_lock:
            self._waiting.append(request)
        with self._write_lock:
            if not request.is_done:
                with self._list_lock:
                    batch, self._waiting = self._waiting, []
                self._process(batch)
        if request.error is not None:
            raise request.error
        assert request.result is not None  # `write` returns a result for each item
        return request.result

    def _process(self, batch: list[_Request[Item, Result]]) -> None:
        try:
            results = self._write([request.item for request in batch])
        except BaseException as error:  # raised in the thread of its caller, which may be another
            if len(batch) == 1:
                batch[0].error = error
                return
            for request in batch:
                self._process([request])
            return
        for request, result in zip(batch, results, strict=True):
            request.result = result
