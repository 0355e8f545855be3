"""Results files: one JSON line per run, each written atomically."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from likewise.errors import OutputError, ResultsFileError
from likewise.operating_system import OPEN_FLAGS, lock_file
from likewise.session.atomic import write_atomic
from likewise_bench.sweep.spec import key_of

Row = dict[str, Any]
_FIELDS = (  # used by tables and figures
    "dataset",
    "criterion",
    "method",
    "strategy",
    "settings",
    "encoder",
    "protocol",
    "seed",
    "n_images",
    "n_clusters",
    "n_questions",
    "n_answers",
    "nmi",
    "ari",
    "acc",
    "unasked",
    "test",
    "baselines",
    "curve",
    "seconds",
    "peak_memory_mb",
)

_RENAMED = {"orientation": "criterion", "other_orientation_acc": "other_criterion_acc"}


def read_results(files: Iterable[Path]) -> list[Row]:
    """Return the rows of several files, including failed ones.

    Raises
    ------
    ResultsFileError
        If a file cannot be read, or a row lacks a field that every run has.
    """
    return [_checked(path, row) for path in files for row in read_rows(path)]


def _checked(path: Path, row: Row) -> Row:
    missing = [name for name in _FIELDS if name not in row]
    if "error" not in row and missing:
        raise ResultsFileError(
            f"A row of {str(path)!r} for the method {row.get('spec', row)['method']!r} lacks the "
            f"field {missing[0]!r}; run it again, or remove it."
        )
    return row


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a results file; a truncated last line is skipped.

    Raises
    ------
    ResultsFileError
        If the file cannot be read, or another line is not a row.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ResultsFileError(
            f"The results file {str(path)!r} cannot be read ({error.strerror}); "
            "create it with `likewise bench sweep`, or with `bench run --json >> FILE`."
        ) from error
    lines = text.split(b"\n")
    rows = [_row(path, n, line) for n, line in enumerate(lines[:-1], start=1) if line.strip()]
    return rows if not lines[-1].strip() else [*rows, *_last(lines[-1])]


def _upgrade(row: Row) -> Row:
    """Return a row with the names of this release; 0.1 wrote ``orientation``."""
    renamed = {_RENAMED.get(name, name): value for name, value in row.items()}
    for part in ("spec", "baselines"):
        if isinstance(renamed.get(part), dict):
            renamed[part] = {_RENAMED.get(name, name): v for name, v in renamed[part].items()}
    return renamed


def _last(line: bytes) -> list[Row]:
    """Return a last line without newline, if it is complete."""
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError):
        return []
    return [_upgrade(row)] if isinstance(row, dict) else []


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        row: Any = json.loads(line)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ResultsFileError(
            f"Line {number} of {str(path)!r} is not JSON ({error}); remove it or give another file."
        ) from error
    spec = row.get("spec", row) if isinstance(row, dict) else None
    if not isinstance(spec, dict) or "method" not in spec:
        raise ResultsFileError(
            f"Line {number} of {str(path)!r} is not a result row: it has no 'method'; "
            "remove it or give another file."
        )
    return _upgrade(row)


class ResultsFile:
    """An open results file of one sweep.

    Parameters
    ----------
    path : Path
        Created if it does not exist.

    Attributes
    ----------
    rows : dict of str to dict
        All rows so far, by the key of their runs; of equal keys the last row.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> with ResultsFile(path) as results:
    ...     results.add({"spec": {"method": "kmeans"}, "acc": 0.5})
    >>> with ResultsFile(path) as results:
    ...     results.is_done({"method": "kmeans"}), results.is_done({"method": "cc"})
    (True, False)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}

    def __enter__(self) -> Self:
        try:
            self._descriptor = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | OPEN_FLAGS, 0o644
            )
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {error.strerror}.") from error
        try:
            lock_file(self._descriptor)
            self._read_existing()
        except BlockingIOError as error:
            os.close(self._descriptor)
            raise OutputError(
                f"{self.path} is being written by another sweep; wait for it, or choose another "
                "file."
            ) from error
        except BaseException:
            os.close(self._descriptor)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if not self.rows:
            self.path.unlink(missing_ok=True)  # nothing was run: leave no empty file
        os.close(self._descriptor)  # also releases the lock

    def _read_existing(self) -> None:
        rows = read_rows(self.path)
        content = self.path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.ftruncate(self._descriptor, content.rfind(b"\n") + 1)
            rows = read_rows(self.path)
        for row in rows:
            self.rows[key_of(row.get("spec", row))] = row

    def is_done(self, spec: Mapping[str, Any]) -> bool:
        """Return whether the run has a row; failed runs are repeated."""
        row = self.rows.get(key_of(spec))
        return row is not None and "error" not in row

    def add(self, row: Row) -> None:
        """Append a row; it is on disk when this returns."""
        line, end = _line(row), os.fstat(self._descriptor).st_size
        if os.write(self._descriptor, line) != len(line):
            os.ftruncate(self._descriptor, end)
            raise OutputError(f"{self.path} cannot be extended: the disk is full.")
        os.fsync(self._descriptor)
        self.rows[key_of(row["spec"])] = row

    def put_in_order(self, specs: Iterable[Mapping[str, Any]]) -> None:
        """Rewrite the file atomically: rows in the given order, then all others."""
        keys = [key_of(spec) for spec in specs]
        ordered = [key for key in keys if key in self.rows]
        others = [key for key in self.rows if key not in set(keys)]
        content = b"".join(_line(self.rows[key]) for key in [*ordered, *others])
        write_atomic(self.path, lambda descriptor: _write_all(descriptor, content))


def _line(row: Row) -> bytes:
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _write_all(descriptor: int, content: bytes) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as stream:
        stream.write(content)
