"""In which order images are seen; drawn from named seeds, the same for any number of processes."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from likewise.seeds import stream

Indexes = npt.NDArray[np.intp]
SHARD = 64  # images whose random views are drawn together


def shuffled_batches(n_images: int, batch_size: int, seed: int, epoch: int) -> Iterator[Indexes]:
    """Yield the global batches of one epoch, shuffled, each of exactly `batch_size`.

    What does not fill a batch is left out of this epoch (as in the papers) and,
    being drawn anew, comes in another; fewer images than a batch are one batch.
    """
    order = stream(seed, "order", epoch).permutation(n_images).astype(np.intp)
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield order[start : start + size]


def fixed_batches(n_images: int, batch_size: int) -> Iterator[Indexes]:
    """Yield the same batches in every epoch, in order: PCL's public code, for parity only."""
    size = min(batch_size, n_images)
    for start in range(0, n_images - size + 1, size):
        yield np.arange(start, start + size, dtype=np.intp)


def share(batch_size: int, rank: int, n_processes: int) -> slice:
    """Return which positions of a global batch belong to one process.

    Equal shares; positions that do not divide evenly are left out for all.
    """
    size = batch_size // n_processes
    return slice(rank * size, (rank + 1) * size)


def covering_shards(share: slice, batch_size: int) -> list[slice]:
    """Return the shards of a batch that a process must draw to have its share.

    Random views are drawn shard by shard, each from its own named seed, so they
    do not depend on how many processes there are.
    """
    first, last = share.start // SHARD, -(-share.stop // SHARD)
    return [slice(s * SHARD, min((s + 1) * SHARD, batch_size)) for s in range(first, last)]
