"""Compute a folder of shards: images are read, embedded and written, shard by shard."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings, Encoder, storage_dtype
from likewise.embedding.registry import make_encoder
from likewise.embedding.shards import Shard, ShardFolder
from likewise.errors import ImageError, UnknownNameError
from likewise.images.collection import Skipped, displayed_name
from likewise.images.encoded import EncodedCollection, FilesBelow
from likewise.types import Floats

ENGINES = ("local", "ray")
_BATCH = 32  # images whose files are in memory at a time; the next ones are read meanwhile
_THREADS = 8  # that read files; most of the time is waiting for a disk or the network


class ShardTask(Protocol):
    """Makes the content of one shard; can be sent to another process."""

    @property
    def made_by(self) -> Mapping[str, Any]:
        """Return the description that all shards of a folder must share, as JSON."""

    def __call__(self, inputs: Sequence[str]) -> Shard:
        """Return the shard of some inputs."""


@dataclass(frozen=True)
class Finished:
    """A shard that is on disk.

    Parameters
    ----------
    n_inputs, n_rows : int
    skipped : sequence of Skipped
    """

    n_inputs: int
    n_rows: int
    skipped: Sequence[Skipped]


@dataclass(frozen=True)
class Failed:
    """Inputs whose worker process died each time, such as for an image that crashes a decoder."""

    inputs: Sequence[str]
    reason: str


def finish(task: ShardTask, inputs: Sequence[str], out: ShardFolder) -> Finished:
    """Compute and write one shard."""
    shard = task(inputs)
    out.write(inputs, shard, task.made_by)
    return Finished(len(inputs), shard.n_rows, shard.skipped)


def run_local(
    task: ShardTask, parts: Iterable[Sequence[str]], out: ShardFolder
) -> Iterator[Finished | Failed]:
    """Compute shards in this process, one after the other."""
    for inputs in parts:
        yield finish(task, inputs, out)


def check_engine(name: str) -> None:
    """Raise if there is no such engine, or its packages are not installed."""
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    if name == "ray":
        from likewise.embedding.ray_engine import check_ray

        check_ray()


@cache
def encoder_of(name: str) -> Encoder:
    """Return an encoder, made once in each process."""
    return make_encoder(name)


class EmbedTask:
    """Embeds images: columns ``name``, ``hash`` (SHA-256 of the file) and ``vector``.

    Parameters
    ----------
    files : FilesBelow
    encoder : str
    """

    def __init__(self, files: FilesBelow, encoder: str) -> None:
        self._files, self._encoder = files, encoder

    @property
    def made_by(self) -> dict[str, Any]:
        """Return the encoder and its feature blocks in order, each with its width."""
        encoder = encoder_of(self._encoder)
        return {"encoder": encoder.name, "blocks": [list(one) for one in encoder.blocks.items()]}

    def __call__(self, inputs: Sequence[str]) -> Shard:
        """Return the embeddings of the images with these names."""
        import pyarrow as pa

        encoder = encoder_of(self._encoder)
        matrices: list[Floats] = []

        def encode(images: EncodedCollection) -> tuple[list[int], list[Skipped]]:
            found = embed(images, encoder)
            matrices.append(found.matrix())
            return positions_of(found), list(found.skipped)

        rows, skipped = for_each_batch(self._files, inputs, encode)
        width = sum(encoder.blocks.values())
        matrix = np.concatenate([np.empty((0, width), np.float32), *matrices])
        vectors = pa.FixedSizeListArray.from_arrays(
            pa.array(matrix.astype(storage_dtype(encoder)).ravel()), width
        )
        return Shard({**names_and_hashes(rows), "vector": vectors}, skipped)


Row = tuple[str, str]  # name and content hash


def for_each_batch(
    files: FilesBelow,
    names: Sequence[str],
    work: Callable[[EncodedCollection], tuple[list[int], list[Skipped]]],
) -> tuple[list[Row], list[Skipped]]:
    """Read images in small batches and work on each, while the next one is read.

    Parameters
    ----------
    files : FilesBelow
    names : sequence of str
    work : callable
        Returns the positions of the images that it could decode, and the others.

    Returns
    -------
    rows : list of (name, content hash)
        Of the images that could be decoded, in order.
    skipped : list of Skipped
    """
    rows: list[Row] = []
    skipped: list[Skipped] = []
    parts = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
    with ThreadPoolExecutor(_THREADS) as readers, ThreadPoolExecutor(1) as ahead:
        following = [ahead.submit(_read_batch, files, part, readers) for part in parts[:1]]
        for number in range(len(parts)):
            images, unread = following.pop().result()
            if number + 1 < len(parts):
                following.append(ahead.submit(_read_batch, files, parts[number + 1], readers))
            positions, undecoded = work(images) if len(images) else ([], [])
            rows += [(images.name(i), images.identity(i)) for i in positions]
            skipped += [*unread, *map(_without_name, undecoded)]
    return rows, skipped


def _without_name(image: Skipped) -> Skipped:
    """Return a skipped image whose reason does not begin with its name."""
    return Skipped(image.name, image.reason.removeprefix(f"{image.name!r} "))


def _read_batch(
    files: FilesBelow, names: Sequence[str], readers: ThreadPoolExecutor
) -> tuple[EncodedCollection, list[Skipped]]:
    """Return the files as a collection in memory, and those that cannot be read."""
    contents: dict[str, bytes] = {}
    skipped = []
    for name, content in zip(names, readers.map(lambda one: _read(files, one), names), strict=True):
        if isinstance(content, Skipped):
            skipped.append(content)
        else:
            contents[name] = content
    identities = [hashlib.sha256(content).hexdigest() for content in contents.values()]
    return EncodedCollection(list(contents), contents.__getitem__, identities), skipped


def _read(files: FilesBelow, name: str) -> bytes | Skipped:
    if displayed_name(name) != name:
        return Skipped(name, "has a name that is not UTF-8; rename the file.")
    try:
        return files.read(name)
    except ImageError as error:
        return Skipped(name, str(error))


def positions_of(embeddings: Embeddings) -> list[int]:
    """Return the position in its collection of each row."""
    positions = embeddings.positions
    return list(range(len(embeddings))) if positions is None else [int(i) for i in positions]


def names_and_hashes(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the columns that all shards have."""
    import pyarrow as pa

    return {
        "name": pa.array([name for name, _ in rows], pa.string()),
        "hash": pa.array([identity for _, identity in rows], pa.string()),
    }
