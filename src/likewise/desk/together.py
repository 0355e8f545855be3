"""Work that arrives while the disk is busy is done in one go: one sync for all who wait."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass
class _Ticket(Generic[Item, Done]):
    item: Item
    done: Done | None = None
    error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        return self.done is not None or self.error is not None


class Together(Generic[Item, Done]):
    """Calls `work` with all items that wait; every caller gets what became of its own.

    Whoever comes first does the work of all who wait by then. If that cannot be done for all,
    it is done for each alone, so that nobody pays for the mistake of another.

    Parameters
    ----------
    work : callable
        Takes a list, returns as many results, none of them None, or does nothing and raises.

    Examples
    --------
    >>> Together(lambda numbers: [2 * number for number in numbers])(4)
    8
    """

    def __init__(self, work: Callable[[list[Item]], Sequence[Done]]) -> None:
        self._work = work
        self._waiting: list[_Ticket[Item, Done]] = []
        self._door, self._working = threading.Lock(), threading.Lock()

    def __call__(self, item: Item) -> Done:
        """Return the result for one item, or raise what went wrong with it."""
        mine: _Ticket[Item, Done] = _Ticket(item)
        with self._door:
            self._waiting.append(mine)
        with self._working:
            if not mine.is_over:
                with self._door:
                    batch, self._waiting = self._waiting, []
                self._do(batch)
        if mine.error is not None:
            raise mine.error
        assert mine.done is not None  # work returned something for everyone
        return mine.done

    def _do(self, batch: list[_Ticket[Item, Done]]) -> None:
        try:
            results = self._work([ticket.item for ticket in batch])
        except BaseException as error:  # it is the caller's, whose thread may be another
            if len(batch) == 1:
                batch[0].error = error
                return
            for ticket in batch:
                self._do([ticket])
            return
        for ticket, done in zip(batch, results, strict=True):
            ticket.done = done
