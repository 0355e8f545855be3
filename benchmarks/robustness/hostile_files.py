"""Seeded generator of hostile sessions and models: valid ones, changed past all checks."""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from likewise.estimators.persistence import ARRAYS_FILE, MODEL_FILE
from likewise.session.database import DATABASE
from likewise.session.journal import JOURNAL

_DEEP = "[" * 100_000
_TEXTS = (
    *("", "..", "../../etc/passwd", "/etc/passwd", "a/../../b", "a\0b", "a\nb", "\x1b[2J", "-rf"),
    *("x" * 100_000, _DEEP, "[]", "{}", "null", '["a", "b"]', "=1+1", "<script>", "\u202e", "nan"),
)
_NUMBERS = (0, 1, -1, 2, 9, 10**6, 2**31, 2**63 - 1, -(2**63), 0.5, 1e308)
_VALUES = (*_TEXTS, *_NUMBERS, None, b"\xff\xfe", b"../x", bytes(100_000))
_JSON: tuple[Any, ...] = (
    *_TEXTS,
    *_NUMBERS,
    None,
    True,
    [],
    {},
    [[]],
    {"a": 1},
    [10**9, "x"],
    1e400,
)
_SCHEMA = (
    "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM image; END",
    "CREATE VIEW v AS SELECT load_extension('x')",
    "CREATE TABLE extra (x)",
    "ALTER TABLE image ADD COLUMN x TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000))) VIRTUAL",
    "CREATE INDEX extra ON log (hex(answer))",
    "DROP TABLE made_group",
    "DROP INDEX log_by_criterion",
    "ALTER TABLE log DROP COLUMN who",
    "PRAGMA user_version = 99",
    "PRAGMA user_version = 0",
    "PRAGMA application_id = 7",
    "DELETE FROM image",
    "DELETE FROM criterion",
    "DELETE FROM made_group",
    "UPDATE log SET action = id - 1",
    "UPDATE log SET retracts = id - 1, kind = 'retract', images = NULL, answer = NULL WHERE id > 1",
    "UPDATE log SET id = id * 1000000000",
    "UPDATE image SET hash = 'same'",
)
_TABLES = ("image", "criterion", "log", "made_group", "fact")
Change = Callable[[Path, random.Random], None]


def change_session(session: Path, chance: random.Random) -> str:
    """Change a valid session; return what was done."""
    done = []
    for _ in range(chance.choice((1, 1, 2, 4))):
        change = chance.choice(_SESSION_CHANGES)
        try:
            change(session, chance)
        except (sqlite3.Error, OSError) as error:  # it does not fit to an earlier change
            done.append(f"{change.__name__}: {error}")
        else:
            done.append(change.__name__)
    return ", ".join(done)


def change_model(model: Path, chance: random.Random) -> str:
    """Change a valid model; return what was done."""
    change = chance.choice(_MODEL_CHANGES)
    try:
        change(model, chance)
    except OSError as error:
        return f"{change.__name__}: {error}"
    return change.__name__


# -- sessions -------------------------------------------------------------------------


def _sql(session: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    """Run SQL without the checks of the schema."""
    db = sqlite3.connect(session / DATABASE, isolation_level=None)
    try:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("PRAGMA writable_schema = ON")
        for sql, values in statements:
            db.execute(sql, values)
    finally:
        db.close()


def _change_cells(session: Path, chance: random.Random) -> None:
    """Overwrite a column in some rows; strict tables refuse what has another type."""
    table = chance.choice(_TABLES)
    db = sqlite3.connect(session / DATABASE)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    rows = [row for (row,) in db.execute(f"SELECT rowid FROM {table}")]
    db.close()
    for _ in range(20):
        column, value = chance.choice(columns), chance.choice(_VALUES)
        chosen = chance.sample(rows, min(len(rows), chance.choice((1, 3, 1000))))
        marks = ",".join("?" * len(chosen))
        try:
            sql = f'UPDATE {table} SET "{column}" = ? WHERE rowid IN ({marks})'
            _sql(session, (sql, (value, *chosen)))
        except sqlite3.Error:
            continue
        return


def _change_schema(session: Path, chance: random.Random) -> None:
    _sql(session, (chance.choice(_SCHEMA), ()))


def _add_rows(session: Path, chance: random.Random) -> None:
    """Add entries to the log that refer to each other, or to nothing."""
    for _ in range(chance.choice((1, 10, 1000))):
        kind = chance.choice(("pair", "choice", "grid", "label", "merge", "retract", "confirm"))
        values = (
            *(chance.choice((1, 1, 1, 7)), kind, chance.choice(_TEXTS), chance.choice(_TEXTS)),
            *(chance.choice(("g1", "g2", *_TEXTS)), chance.choice(('["g1"]', *_TEXTS))),
            *(chance.choice((None, 1, 5, 10**9)), "eve", chance.choice(_TEXTS)),
        )
        _sql(
            session,
            (
                'INSERT INTO log (criterion, kind, images, answer, "group", groups, retracts, who, '
                "at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            ),
        )


def _damage_file(session: Path, chance: random.Random) -> None:
    """Overwrite, truncate or replace any file."""
    files = sorted(path for path in session.rglob("*") if path.is_file())
    damage_bytes(chance.choice(files), chance)


def _damage_database(session: Path, chance: random.Random) -> None:
    damage_bytes(session / DATABASE, chance)


def _add_log_file(session: Path, chance: random.Random) -> None:
    """Leave a write-ahead log or a rollback journal for SQLite to apply."""
    ending = chance.choice(("-wal", "-journal", "-shm"))
    head = chance.choice((b"", b"\x37\x7f\x06\x82", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"))
    (session / f"{DATABASE}{ending}").write_bytes(head + chance.randbytes(5000))


def _add_link(session: Path, chance: random.Random) -> None:
    """Replace a file by a link, a pipe or a folder, or add one."""
    paths = [*session.rglob("*"), session / "new", session / "thumbnails" / "a.webp"]
    path = chance.choice(sorted(paths))
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    kind = chance.choice(("link", "folder link", "pipe", "folder", "nothing"))
    if kind == "link":
        path.symlink_to(session.parent / "secret.txt")
    elif kind == "folder link":
        path.symlink_to(session.parent)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()


def _change_json_file(session: Path, chance: random.Random) -> None:
    files = sorted(path for path in session.rglob("*.json") if path.is_file())
    if files:
        _change_json(chance.choice(files), chance)


def _change_journal(session: Path, chance: random.Random) -> None:
    """Change the journal, and delete the database so that it is used."""
    lines = (session / JOURNAL).read_text(errors="replace").splitlines()
    for _ in range(chance.choice((1, 5))):
        line = chance.choice((chance.choice(lines), *_TEXTS, json.dumps({"kind": "pair"})))
        lines[chance.randrange(len(lines))] = line
    (session / JOURNAL).write_text("\n".join(lines))
    if chance.random() < 0.5:
        (session / DATABASE).unlink(missing_ok=True)


def _change_arrays(session: Path, chance: random.Random) -> None:
    """Replace an array of a NumPy file by one of another shape or type."""
    files = sorted(session.rglob("*.npz"))
    if not files:
        return
    path = chance.choice(files)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    name = chance.choice(sorted(arrays))
    if chance.random() < 0.2:
        del arrays[name]
    else:
        arrays[name] = odd_array(arrays[name], chance)
    np.savez(path, **arrays)


_SESSION_CHANGES: tuple[Change, ...] = (
    *(_change_cells, _change_cells, _change_cells, _change_schema, _add_rows, _damage_file),
    *(_damage_database, _add_log_file, _add_link, _change_json_file, _change_journal),
    *(_change_arrays, _change_arrays),
)


# -- models ---------------------------------------------------------------------------


def _model_description(model: Path, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 3))):
        _change_json(model / MODEL_FILE, chance)


def _model_arrays(model: Path, chance: random.Random) -> None:
    arrays = load_file(model / ARRAYS_FILE)
    for name in chance.sample(sorted(arrays), chance.choice((1, 1, 2))):
        if chance.random() < 0.2:
            del arrays[name]
        else:
            arrays[name] = odd_array(arrays[name], chance)
    save_file({n: np.ascontiguousarray(a) for n, a in arrays.items()}, model / ARRAYS_FILE)


def _model_bytes(model: Path, chance: random.Random) -> None:
    damage_bytes(chance.choice(sorted(model.iterdir())), chance)


def _model_header(model: Path, chance: random.Random) -> None:
    """Write a header of safetensors that refers to bytes outside of the file."""
    offsets = chance.choice(([0, 2**40], [-4, 4], [8, 0], [0, 4]))
    header = {"labels_": {"dtype": "F32", "shape": [2**40], "data_offsets": offsets}}
    text = chance.choice((json.dumps(header), _DEEP, "{}")).encode()
    length = chance.choice((len(text), 2**63, 0))
    (model / ARRAYS_FILE).write_bytes(length.to_bytes(8, "little") + text)


_MODEL_CHANGES: tuple[Change, ...] = (
    *(_model_description, _model_description, _model_arrays, _model_arrays, _model_bytes),
    *(_model_header, _add_link),
)


# -- both -----------------------------------------------------------------------------


def damage_bytes(path: Path, chance: random.Random) -> None:
    """Overwrite, truncate, extend or empty a file."""
    content = bytearray(path.read_bytes())
    how = chance.choice(("overwrite", "bits", "truncate", "extend", "empty", "random"))
    at = chance.randrange(max(1, len(content)))
    if how == "overwrite":
        content[at : at + 500] = chance.randbytes(500)
    elif how == "bits":
        for _ in range(20):
            if content:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif how == "truncate":
        del content[at:]
    elif how == "extend":
        content.extend(chance.randbytes(5000))
    else:
        content[:] = b"" if how == "empty" else chance.randbytes(len(content))
    path.write_bytes(content)


def odd_array(array: "np.ndarray[Any, Any]", chance: random.Random) -> "np.ndarray[Any, Any]":
    """Return an array of another shape, type or with other values."""
    flat = array.reshape(-1)
    numbers = array if array.dtype.kind in "fiub" else np.zeros(array.shape)
    changed = numbers.astype(np.float32)
    if changed.size:
        changed.reshape(-1)[chance.randrange(changed.size)] = chance.choice(
            (np.nan, np.inf, -1.0, 1e30)
        )
    options: list[np.ndarray[Any, Any]] = [
        changed,
        (100 * numbers.astype(np.float64)).astype(np.int64),
        -numbers.astype(np.int64) - 1,
        flat[:-1],
        np.repeat(flat, 3),
        flat.reshape(1, -1),
        flat[:0],
        np.zeros((0, 3)),
        np.zeros(array.shape, dtype=np.int8),
        array.astype(np.float64) if array.dtype.kind in "fiub" else changed,
        np.array(7),
    ]
    return chance.choice(options)


def _change_json(path: Path, chance: random.Random) -> None:
    """Replace a random value in a JSON file, delete a key, or add one."""
    try:
        content = json.loads(path.read_text())
    except ValueError:
        return
    holder, keys = content, [content]
    while isinstance(holder, dict | list) and holder and chance.random() < 0.7:
        keys.append(holder)
        index = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder = holder[index]
    target = chance.choice(keys)
    value = chance.choice(_JSON)
    if isinstance(target, dict) and target:
        key = chance.choice(sorted(target))
        if chance.random() < 0.25:
            del target[key]
        else:
            target[chance.choice((key, "new"))] = value
    elif isinstance(target, list) and target:
        target[chance.randrange(len(target))] = value
    else:
        content = value
    path.write_text(json.dumps(content))
