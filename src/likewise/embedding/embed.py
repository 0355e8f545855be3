"""Compute the embeddings of an image collection in batches; cached vectors are reused."""

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from likewise.embedding.cache import EmbeddingCache, EncoderCache
from likewise.embedding.embeddings import Embeddings, Encoder, n_threads
from likewise.errors import ImageError, LikewiseWarning
from likewise.images.collection import ImageCollection, Pixels, Skipped
from likewise.images.decoding import DECODING
from likewise.images.encoded import EncodedCollection
from likewise.images.files import FileCollection
from likewise.types import Floats, Progress, silent

_PREPARED, _UNPREPARED = 64, 8  # batch sizes; images without `prepare` may be large
_PREFETCHED = 2  # batches decoded ahead of the encoder
Decoded = Pixels | Skipped


def embed(
    collection: ImageCollection,
    encoder: Encoder,
    cache: EmbeddingCache | None = None,
    progress: Progress = silent,
) -> Embeddings:
    """Return the embeddings of all readable images.

    Parameters
    ----------
    collection : ImageCollection
    encoder : Encoder
        Its method ``prepare(pixels) -> pixels``, if present, is called in the decoding threads.
    cache : EmbeddingCache, optional
        Cached vectors are not computed again; new ones are added batch by batch, so an
        interrupted run continues where it stopped. None caches nothing.
    progress : Progress
        Called with the number of images that have a vector.

    Returns
    -------
    embeddings : Embeddings
        Unreadable images are in `skipped` and have no row.

    Raises
    ------
    EncoderError
        If the encoder does not return one finite vector per image, the cached vectors have
        another width, or the disk is full.
    """
    identities = [collection.identity(i) for i in range(len(collection))]
    cached = EncoderCache(encoder, cache, len(set(identities)))
    reasons = _compute_missing(collection, identities, encoder, cached, progress)
    matrix, readable = _read(identities, cached)
    is_damaged = ~np.isfinite(matrix.sum(axis=1)) & ~np.isfinite(matrix).all(axis=1)
    if is_damaged.any():
        damaged = [identities[i] for i, bad in zip(readable, is_damaged, strict=True) if bad]
        warnings.warn(
            f"{len(damaged):,} cached vectors of {encoder.name} were damaged; "
            "they are computed again.",
            LikewiseWarning,
            stacklevel=2,
        )
        cached.vectors.forget(damaged)
        reasons |= _compute_missing(collection, identities, encoder, cached, progress)
        matrix, readable = _read(identities, cached)
    skipped = [
        Skipped(collection.name(i), reasons[identity])
        for i, identity in enumerate(identities)
        if identity not in cached.vectors
    ]
    local_features = cached.local_features([identities[i] for i in readable])
    positions = np.array(readable, dtype=np.intp)
    return Embeddings.from_matrix(matrix, encoder.blocks, skipped, positions, local_features)


def _read(identities: Sequence[str], cached: EncoderCache) -> tuple[Floats, list[int]]:
    """Return the vectors that exist, and the positions of their images."""
    readable = [i for i, identity in enumerate(identities) if identity in cached.vectors]
    return cached.vectors.read([identities[i] for i in readable]), readable


def _compute_missing(
    collection: ImageCollection,
    identities: Sequence[str],
    encoder: Encoder,
    cached: EncoderCache,
    progress: Progress,
) -> dict[str, str]:
    """Encode and cache missing images; return the reason for each identity that is unreadable."""
    missing = {name: i for i, name in reversed(list(enumerate(identities))) if name not in cached}
    positions = sorted(missing.values())  # of the first copy of each image
    reasons: dict[str, str] = {}
    done = len(identities) - len(positions)
    batch_size = _PREPARED if hasattr(encoder, "prepare") else _UNPREPARED
    progress(done, len(identities))
    for batch, decoded in prefetch(image_reader(collection, encoder), positions, batch_size):
        images: dict[str, Pixels] = {}
        for position, image in zip(batch, decoded, strict=True):
            if isinstance(image, Skipped):
                reasons[identities[position]] = image.reason
            else:
                images[identities[position]] = image
        if images:
            cached.add(list(images), encoder.encode(list(images.values())))
        done += len(batch)
        progress(done, len(identities))
    return reasons


def image_reader(collection: ImageCollection, encoder: Encoder) -> Callable[[int], Decoded]:
    """Return a function that reads and prepares the image at a position.

    For an encoder with ``size``, large JPEG files are decoded at a reduced scale; with
    ``prepare``, images are resized in the decoding thread, before further large images are
    decoded. Both bound the memory in use.
    """
    prepare: Callable[[Pixels], Pixels] = getattr(encoder, "prepare", _unchanged)
    size: int | None = getattr(encoder, "size", None)

    def read(position: int) -> Decoded:
        try:
            with DECODING.keep():  # until `prepare` has made the image small
                if size is not None and isinstance(collection, (FileCollection, EncodedCollection)):
                    return prepare(collection.pixels(position, at_least=2 * size))
                return prepare(collection.pixels(position))
        except ImageError as error:
            return Skipped(collection.name(position), str(error))

    return read


def _unchanged(pixels: Pixels) -> Pixels:
    return pixels


def prefetch(
    read: Callable[[int], Decoded], positions: Sequence[int], batch_size: int
) -> Iterator[tuple[Sequence[int], list[Decoded]]]:
    """Yield batches of positions with their decoded images, a few batches ahead.

    Decoding and resizing release the GIL, so threads are enough. With one thread in all, images
    are decoded between the batches: workers that have one core each do not take another.
    """
    if n_threads() == 1:
        for start in range(0, len(positions), batch_size):
            batch = positions[start : start + batch_size]
            yield batch, [read(position) for position in batch]
        return
    pool = ThreadPoolExecutor(n_threads(), thread_name_prefix="decode")
    pending: deque[tuple[Sequence[int], list[Future[Decoded]]]] = deque()
    try:
        for start in range(0, len(positions), batch_size):
            batch = positions[start : start + batch_size]
            pending.append((batch, [pool.submit(read, position) for position in batch]))
            if len(pending) > _PREFETCHED:
                yield _results(pending.popleft())
        while pending:
            yield _results(pending.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _results(
    batch: tuple[Sequence[int], list[Future[Decoded]]],
) -> tuple[Sequence[int], list[Decoded]]:
    return batch[0], [future.result() for future in batch[1]]
