"""ShardFolder: Parquet files with one row per image, which are written, resumed and checked."""

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.errors import EncoderError, MissingExtraError, OutputError
from likewise.images.collection import Skipped
from likewise.images.encoded import is_address, open_address
from likewise.session.atomic import disk_errors, write_atomic

MAX_ROWS = 2048  # of a shard; what a stopped worker loses is at most one shard
_MIN_ROWS = 32
_SHARDS_PER_WORKER = 4  # at least, so that all workers finish at about the same time
_ROWS_PER_GROUP = 256  # rows that are read together when a session takes a sample
_PREFIX, _SUFFIX = "part-", ".parquet"
_KEY = b"likewise"  # of the description in the metadata of each file
_FORMAT = 1
_READERS = 16  # threads; most of the time is waiting for the network


@dataclass
class Written:
    """What the readable shards of a folder contain.

    Parameters
    ----------
    inputs : set of str
        Names that need no work any more, those of skipped images included.
    skipped : list of Skipped
    n_rows : int
    damaged : list of str
        Files that cannot be read.
    """

    inputs: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    n_rows: int = 0
    damaged: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Shard:
    """The content of one shard.

    Parameters
    ----------
    columns : mapping of str to Arrow array or list
        All of the same length; ``name`` has the name of each image.
    skipped : sequence of Skipped
    inputs : sequence of str, optional
        What the shard was made from, if that is not its images: the name of another file.
    """

    columns: Mapping[str, Any]
    skipped: Sequence[Skipped] = ()
    inputs: Sequence[str] | None = None

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.columns["name"])


class ShardFolder:
    """A folder or address with shards; can be sent to other processes.

    A shard appears under its name when it is complete, and its name follows from the names of
    its images. So a worker that is killed leaves no incomplete shard, and a shard that is
    written twice is the same file.

    Parameters
    ----------
    place : str
        A folder, or an address such as ``s3://bucket/vectors``.
    """

    def __init__(self, place: str) -> None:
        self.place = place if is_address(place) else os.path.abspath(os.path.expanduser(place))
        self._files: Any = None
        self._root = self.place

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardFolder, (self.place,)

    def create(self) -> None:
        """Create the folder; an address needs no folder.

        Raises
        ------
        OutputError
            If it cannot be created.
        """
        if is_address(self.place):
            return
        if os.path.isfile(self.place):
            raise OutputError(
                f"{self.place} already exists and is a file, so it was not overwritten; give a new "
                "folder, or FILE.npy."
            )
        try:
            Path(self.place).mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"The folder {self.place} cannot be created ({error.strerror}); create its parent "
                "folder, or choose another path."
            ) from error

    def names(self) -> list[str]:
        """Return the names of all Parquet files, sorted; none if there is no folder."""
        try:
            if is_address(self.place):
                files = self._open()
                paths = files.ls(self._root, detail=False) if files.exists(self._root) else []
            else:
                paths = os.listdir(self.place) if os.path.isdir(self.place) else []
        except Exception as error:  # every file system raises its own
            raise self._problem(error) from error
        found = (str(path).rstrip("/").rpartition("/")[2] for path in paths)
        return sorted(one for one in found if one.endswith(_SUFFIX) and not one.startswith("."))

    def open(self, name: str) -> Any:
        """Return an open Parquet file.

        Raises
        ------
        EncoderError
            If it is damaged.
        """
        parquet, lib = _parquet()
        try:
            if is_address(self.place):
                files = self._open()
                return parquet.ParquetFile(f"{self._root}/{name}", filesystem=files)
            return parquet.ParquetFile(os.path.join(self.place, name))
        except (OSError, ValueError, lib.ArrowException) as error:
            raise EncoderError(
                f"{name} in {self.place} is damaged or not a complete Parquet file ({error}). "
                "Delete it and run the command that made it again: only its images are missing."
            ) from error

    def write(self, inputs: Sequence[str], shard: Shard, made_by: Mapping[str, Any]) -> None:
        """Write the shard of some inputs; it appears at once or not at all."""
        import pyarrow as pa

        description: dict[str, Any] = {
            "format": _FORMAT,
            "made_by": made_by,
            "skipped": [[one.name, one.reason] for one in shard.skipped],
        }
        if shard.inputs is not None:
            description["inputs"] = list(shard.inputs)
        table = pa.table(dict(shard.columns))
        text = json.dumps(description).encode()
        table = table.replace_schema_metadata({_KEY: text})
        content = io.BytesIO()
        _parquet()[0].write_table(table, content, row_group_size=_ROWS_PER_GROUP)
        self._write(shard_name(inputs), content.getvalue())

    def delete(self, name: str) -> None:
        """Delete a shard."""
        try:
            if is_address(self.place):
                self._open().rm_file(f"{self._root}/{name}")
            else:
                os.unlink(os.path.join(self.place, name))
        except Exception as error:
            raise self._problem(error) from error

    def written(self, made_by: Mapping[str, Any]) -> Written:
        """Return what exists already.

        Raises
        ------
        EncoderError
            If a shard is from another encoder or model than `made_by`.
        """
        written = Written()
        with ThreadPoolExecutor(_READERS) as pool:
            names = [name for name in self.names() if name.startswith(_PREFIX)]
            for name, found in zip(names, pool.map(self._read, names), strict=True):
                if found is None:
                    written.damaged.append(name)
                    continue
                description, images = found
                self._check(name, description, made_by)
                skipped = [Skipped(*one) for one in description["skipped"]]
                written.inputs.update(description.get("inputs", images))
                written.inputs.update(one.name for one in skipped)
                written.skipped += skipped
                written.n_rows += len(images)
        return written

    def describe(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what made some of the files (``encoder``, ``blocks``); empty if not known.

        Raises
        ------
        EncoderError
            If they are from several encoders, or one is damaged.
        """

        def of(name: str) -> dict[str, Any]:
            with self.open(name) as file:
                return _description(file) or {"made_by": {}}

        first: dict[str, Any] | None = None
        with ThreadPoolExecutor(_READERS) as pool:
            for name, description in zip(names, pool.map(of, names), strict=True):
                first = first or description
                self._check(name, description, first["made_by"])
        return dict(first["made_by"]) if first else {}

    def _read(self, name: str) -> tuple[dict[str, Any], list[str]] | None:
        """Return the description and the image names of a shard; None if it is damaged."""
        try:
            with self.open(name) as file:
                description = _description(file)
                images = file.read(columns=["name"])["name"].to_pylist()
        except (EncoderError, OSError, KeyError):
            return None
        return None if description is None else (description, images)

    def _check(self, name: str, description: Mapping[str, Any], made_by: Mapping[str, Any]) -> None:
        if description["made_by"] != json.loads(json.dumps(made_by)):
            raise EncoderError(
                f"{name} in {self.place} was made by {_shown(description['made_by'])}, and not by "
                f"{_shown(made_by)}; one folder must be of one encoder or model: write to another "
                "folder, or delete this one."
            )

    def _open(self) -> Any:
        """Return the file system of the address."""
        if self._files is None:
            self._files, root = open_address(self.place)
            self._root = root.rstrip("/")
        return self._files

    def _write(self, name: str, content: bytes) -> None:
        if is_address(self.place):
            try:
                files = self._open()
                files.makedirs(self._root, exist_ok=True)
                files.pipe_file(f"{self._root}/{name}", content)  # one request: all or nothing
            except Exception as error:
                raise self._problem(error) from error
            return
        path = Path(self.place, name)

        def write(descriptor: int) -> None:
            with os.fdopen(descriptor, "wb", closefd=False) as stream:
                stream.write(content)

        with disk_errors(path):
            write_atomic(path, write)

    def _problem(self, error: Exception) -> OutputError:
        return OutputError(
            f"{self.place} cannot be read or written ({error or type(error).__name__}); check the "
            "address, its credentials and the connection, and run the command again to continue."
        )


def plan(names: Sequence[str], n_workers: int, max_rows: int = MAX_ROWS) -> Iterator[Sequence[str]]:
    """Return the names of each shard to write.

    Examples
    --------
    >>> [len(part) for part in plan([str(i) for i in range(100)], n_workers=1)]
    [32, 32, 32, 4]
    """
    per_worker = -(-len(names) // (_SHARDS_PER_WORKER * n_workers))
    n_rows = min(max_rows, max(_MIN_ROWS, per_worker))
    return (names[start : start + n_rows] for start in range(0, len(names), n_rows))


def shard_name(inputs: Sequence[str]) -> str:
    """Return the file name of the shard of some inputs."""
    digest = hashlib.sha256("\n".join(inputs).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{_PREFIX}{digest[:20]}{_SUFFIX}"


def check_parquet(what: str) -> None:
    """Raise `MissingExtraError` if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(what, "pyarrow", "parquet") from error


def _parquet() -> tuple[Any, Any]:
    check_parquet("A folder of Parquet files")
    from pyarrow import lib, parquet

    return parquet, lib


def _description(file: Any) -> dict[str, Any] | None:
    """Return the description of a Parquet file of this package; None for other files."""
    try:
        found: dict[str, Any] = json.loads((file.schema_arrow.metadata or {})[_KEY])
        is_ours = found["format"] == _FORMAT and {"made_by", "skipped"} <= found.keys()
    except (KeyError, ValueError, TypeError):
        return None
    return found if is_ours else None


def _shown(made_by: Mapping[str, Any]) -> str:
    kinds = ("encoder", "model")
    return next((f"the {kind} {made_by[kind]!r}" for kind in kinds if kind in made_by), "another")
