"""VectorSource: any number of vectors from a NumPy file or Parquet files, read in chunks."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.embedding.matrix_file import (
    has_list_column,
    is_vector_file,
    list_columns,
    list_matrix,
    read_vectors,
)
from likewise.embedding.shards import ShardFolder
from likewise.errors import InvalidParameterError
from likewise.images.encoded import is_address
from likewise.random_streams import stream
from likewise.types import Floats, Indexes

_BATCH = 8192  # rows in memory at a time
_ROWS_PER_GROUP = 16  # rows of a sample from one row group of a Parquet file
_NAMES = ("name", "path", "file", "filename", "image", "id", "title", "text")
_HASH = re.compile(r"[0-9a-f]{64}")
_READERS = 16  # threads; most of the time is waiting for a disk or the network


@dataclass(frozen=True)
class VectorRows:
    """Some rows of a source of vectors.

    Parameters
    ----------
    names, hashes : list of str
    matrix : array of shape (n, d)
    """

    names: list[str]
    hashes: list[str]
    matrix: Floats


class VectorSource:
    """Any number of vectors, read in parts; can be sent to other processes.

    Parameters
    ----------
    place : str
        A ``.npy`` file, which is memory-mapped; a ``.parquet`` file; or a folder or address with
        Parquet files, such as ``likewise embed SOURCE -o DIR`` writes.

    Attributes
    ----------
    files : dict of str to int
        Number of rows of each file.
    blocks : dict of str to int
        Feature blocks with their widths; empty if not known.

    Raises
    ------
    InvalidParameterError
        If there are no vectors, or they have different lengths.
    EncoderError
        If a file is damaged, or the vectors are from several encoders.
    """

    def __init__(self, place: str) -> None:
        self.place, self.blocks = place, dict[str, int]()
        self._matrix: npt.NDArray[Any] | None = None
        self._names: Sequence[str] | None = None
        path = Path(place).expanduser()
        if path.suffix.lower() == ".npy":
            self._open_matrix(path)
        else:
            self._open_shards(path)
        if not self.n_rows:
            raise InvalidParameterError(f"{place} contains no vectors; check the path.")

    def __reduce__(self) -> tuple[Any, ...]:
        return VectorSource, (self.place,)

    @staticmethod
    def is_one(place: str) -> bool:
        """Return whether a path or address has vectors rather than images."""
        if is_vector_file(place):
            return True
        is_folder = is_address(place) or Path(place).expanduser().is_dir()
        return is_folder and bool(ShardFolder(place).names())

    @property
    def n_rows(self) -> int:
        """Return the number of vectors."""
        return sum(self.files.values())

    def batches(self, file: str) -> Iterator[VectorRows]:
        """Yield all rows of one file, in order and in parts."""
        if self._matrix is not None:
            for start in range(0, len(self._matrix), _BATCH):
                yield self._matrix_rows(np.arange(start, min(start + _BATCH, len(self._matrix))))
            return
        n_before = 0
        with self._folder.open(file) as opened:
            for batch in opened.iter_batches(_BATCH, columns=self._columns):
                yield self._shard_rows(batch, file, n_before + np.arange(len(batch)))
                n_before += len(batch)

    def sample(self, n_rows: int, seed: int = 0) -> VectorRows:
        """Return rows drawn at random, or all rows if there are not more.

        Of Parquet files, a few rows are drawn from each of many row groups drawn at random, since
        a row group can only be read as a whole.
        """
        rng = stream(seed, "sample of vectors")
        if self._matrix is not None:
            n_rows = min(n_rows, len(self._matrix))
            return self._matrix_rows(np.sort(rng.choice(len(self._matrix), n_rows, replace=False)))
        groups = self._row_groups()
        share = 1.0
        if n_rows < self.n_rows:
            mean = self.n_rows / len(groups)
            n_groups = min(len(groups), -(-n_rows // min(_ROWS_PER_GROUP, int(max(1, mean)))))
            chosen = np.sort(rng.choice(len(groups), n_groups, replace=False))
            groups = [groups[i] for i in chosen]
            share = n_rows / sum(size for *_, size in groups)
        drawn = [(*one, rng.random(one[2]) < share) for one in groups]
        with ThreadPoolExecutor(_READERS) as pool:
            parts = list(pool.map(self._take, drawn))
        names, hashes = ([x for one in parts for x in getattr(one, k)] for k in ("names", "hashes"))
        kept = slice(0, n_rows)
        return VectorRows(
            names[kept], hashes[kept], np.concatenate([one.matrix for one in parts])[kept]
        )

    # -- inside -----------------------------------------------------------------------

    def _open_matrix(self, path: Path) -> None:
        """Map a NumPy file; its JSON file has the names, if `likewise embed` wrote it."""
        self._matrix = read_vectors(path)
        self.files = {path.name: len(self._matrix)}
        try:
            described = json.loads(path.with_suffix(".json").read_text("utf-8"))
            names, blocks = described["names"], described["blocks"]
        except (OSError, ValueError, KeyError, TypeError):
            return
        if len(names) == len(self._matrix):
            self._names = names
            self.blocks = {
                str(name): int(end) - int(start) for name, (start, end) in blocks.items()
            }

    def _open_shards(self, path: Path) -> None:
        if not is_address(self.place) and not path.exists():
            raise InvalidParameterError(
                f"{self.place} does not exist; give a .npy file, a Parquet file, or a folder or "
                "address with Parquet files."
            )
        is_file = not is_address(self.place) and path.is_file()
        if is_file and is_vector_file(path) and not has_list_column(path):  # columns of numbers
            self._open_matrix(path)
            return
        self._folder = ShardFolder(str(path.parent) if is_file else self.place)
        names = [path.name] if is_file else self._folder.names()
        if not names:
            raise InvalidParameterError(
                f"{self.place} contains no Parquet files; write them with `likewise embed PHOTOS "
                f"-o {self.place}`."
            )
        self.blocks = {str(k): int(n) for k, n in self._folder.describe(names).get("blocks", [])}
        with self._folder.open(names[0]) as first:
            self._columns = _vector_columns(first.schema_arrow, self.place)
        with ThreadPoolExecutor(_READERS) as pool:
            counts = list(pool.map(self._count, names))
        self.files = dict(zip(names, (n for n, _ in counts), strict=True))
        widths = {width for n, width in counts if n and width}
        if len(widths) > 1:
            raise InvalidParameterError(
                f"The vectors in {self.place} must all have the same length, got files with "
                f"lengths {', '.join(map(str, sorted(widths)))}; one folder must be of one encoder."
            )

    def _count(self, name: str) -> tuple[int, int | None]:
        """Return the number of rows of a file, and their length if the file states it."""
        with self._folder.open(name) as opened:
            kind = opened.schema_arrow.field(self._columns[-1]).type
            return opened.metadata.num_rows, getattr(kind, "list_size", None)

    def _row_groups(self) -> list[tuple[str, int, int]]:
        """Return file, number and rows of each row group."""

        def of(name: str) -> list[tuple[str, int, int]]:
            with self._folder.open(name) as opened:
                known = opened.metadata
                n_groups = known.num_row_groups
                return [(name, i, known.row_group(i).num_rows) for i in range(n_groups)]

        with ThreadPoolExecutor(_READERS) as pool:
            return [one for groups in pool.map(of, self.files) for one in groups]

    def _take(self, one: tuple[str, int, int, npt.NDArray[np.bool_]]) -> VectorRows:
        """Return the chosen rows of a row group."""
        name, group, _, is_chosen = one
        with self._folder.open(name) as opened:
            batch = opened.read_row_group(group, columns=self._columns)
            n_before = sum(opened.metadata.row_group(i).num_rows for i in range(group))
        rows = np.flatnonzero(is_chosen)
        return self._shard_rows(batch.take(rows), name, n_before + rows)

    def _shard_rows(self, batch: Any, file: str, numbers: Indexes) -> VectorRows:
        """Return rows of a file, whose numbers in it name those that have no name."""
        *others, column = self._columns
        if len(batch):
            matrix = list_matrix(batch[column], f"{file} of {self.place}")
        else:
            matrix = np.empty((0, sum(self.blocks.values())), np.float32)
        texts = {name: batch[name].to_pylist() for name in others}
        hashes = texts.pop("hash", None)
        named = next(iter(texts.values()), None)
        if named is None:
            named = [f"{file}-{number}" for number in numbers]
        if hashes is None or not all(_HASH.fullmatch(str(one)) for one in hashes):
            hashes = [_content_hash(row) for row in matrix]
        return VectorRows([str(one) for one in named], hashes, matrix)

    def _matrix_rows(self, positions: Indexes) -> VectorRows:
        assert self._matrix is not None
        matrix = np.asarray(self._matrix[positions], np.float32)
        names = self._names
        named = [str(i) if names is None else str(names[i]) for i in positions]
        return VectorRows(named, [_content_hash(row) for row in matrix], matrix)


def _vector_columns(schema: Any, place: str) -> list[str]:
    """Return the columns of hash and name, or None without them, and the column of vectors."""
    lists = list_columns(schema)
    if len(lists) != 1:
        raise InvalidParameterError(
            f"The Parquet files in {place} must have one column of vectors (lists of numbers), got "
            f"{len(lists)} ({', '.join(lists) or 'none'}); keep one of them."
        )
    names = [name for name in _NAMES if name in schema.names][:1]
    return [*(["hash"] if "hash" in schema.names else []), *names, *lists]


def _content_hash(row: Floats) -> str:
    return hashlib.sha256(row.tobytes()).hexdigest()


def as_embeddings(matrix: Floats, blocks: Mapping[str, int]) -> Any:
    """Return a matrix with its feature blocks, if they are known."""
    from likewise.embedding.embeddings import Embeddings

    return Embeddings.from_matrix(matrix, blocks) if blocks else matrix
