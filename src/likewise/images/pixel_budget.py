"""A bound on the number of pixels that all threads of the process decode at the same time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class PixelBudget:
    """Lets images be decoded at the same time while their pixels fit into a limit.

    An image that is larger than the limit is decoded alone. Threads get their turn in the order
    in which they ask, so that large images do not wait for ever.

    Parameters
    ----------
    n_pixels : int
        The limit.
    """

    def __init__(self, n_pixels: int) -> None:
        self._limit = n_pixels
        self._used = 0
        self._turn = threading.Lock()  # held by the one thread that waits for free pixels
        self._released = threading.Condition()
        self._kept = threading.local()

    @contextmanager
    def reserve(self, n_pixels: int) -> Iterator[None]:
        """Wait for `n_pixels`, and hold them until the end of the block, or of `keep` around it."""
        held: list[int] | None = getattr(self._kept, "pixels", None)
        with self._turn, self._released:
            if not held:  # a thread that holds some must not wait for itself
                self._released.wait_for(
                    lambda: not self._used or self._used + n_pixels <= self._limit
                )
            self._used += n_pixels
        if held is not None:
            held.append(n_pixels)
            yield
            return
        try:
            yield
        finally:
            self._release(n_pixels)

    @contextmanager
    def keep(self) -> Iterator[None]:
        """Hold what is reserved inside until the end, for as long as the pixels are in use."""
        self._kept.pixels = []
        try:
            yield
        finally:
            held, self._kept.pixels = self._kept.pixels, None
            self._release(sum(held))

    def _release(self, n_pixels: int) -> None:
        with self._released:
            self._used -= n_pixels
            self._released.notify_all()


#: Shared by everything that decodes images; decoding takes at most 8 bytes for each pixel.
DECODING = PixelBudget(2**27)
