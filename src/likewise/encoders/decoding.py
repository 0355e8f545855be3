"""Decode pictures in threads, a bounded number ahead of whoever computes on them."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from likewise.encoders.encoder import Encoder
from likewise.errors import ImageError
from likewise.images.collection import ImageCollection, Pixels
from likewise.images.files import FileCollection
from likewise.images.unreadable import Skipped

_AHEAD = 2  # batches being decoded while one is computed on
Decoded = Pixels | Skipped


def decode_ahead(
    read: Callable[[int], Decoded], positions: Sequence[int], batch_size: int
) -> Iterator[tuple[Sequence[int], list[Decoded]]]:
    """Yield batches of positions with what `read` gives for each, in order.

    Decoding and resizing leave Python's lock, so threads are enough.
    """
    pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="decode")
    waiting: deque[tuple[Sequence[int], list[Future[Decoded]]]] = deque()
    try:
        for start in range(0, len(positions), batch_size):
            batch = positions[start : start + batch_size]
            waiting.append((batch, [pool.submit(read, position) for position in batch]))
            if len(waiting) > _AHEAD:
                yield _finished(waiting.popleft())
        while waiting:
            yield _finished(waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _finished(
    batch: tuple[Sequence[int], list[Future[Decoded]]],
) -> tuple[Sequence[int], list[Decoded]]:
    return batch[0], [future.result() for future in batch[1]]


def reader(collection: ImageCollection, encoder: Encoder) -> Callable[[int], Decoded]:
    """Return a function from a position to what the encoder wants to see there.

    An encoder with ``prepare`` and ``size`` gets its pictures small already, which
    bounds memory and lets large JPEGs be decoded at a fraction of their size.
    """
    prepare: Callable[[Pixels], Pixels] = getattr(encoder, "prepare", _as_it_is)
    size: int | None = getattr(encoder, "size", None)

    def read(position: int) -> Decoded:
        try:
            if size is not None and isinstance(collection, FileCollection):
                return prepare(collection.pixels(position, at_least=2 * size))
            return prepare(collection.pixels(position))
        except ImageError as error:
            return Skipped(collection.name(position), str(error))

    return read


def _as_it_is(pixels: Pixels) -> Pixels:
    return pixels
