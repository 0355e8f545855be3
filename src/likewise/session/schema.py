"""Database schema of a session, as numbered migrations."""

import sqlite3
from collections.abc import Sequence

from likewise.errors import NewerSessionError, SessionError

APPLICATION_ID = 0x4C494B45  # "LIKE": distinguishes session files from other SQLite files

MIGRATIONS: Sequence[str] = (
    # 1: images, criteria (then called orientations) and the answer log.
    """
    CREATE TABLE fact (
        name  TEXT PRIMARY KEY,
        value BLOB NOT NULL                 -- UTF-8; bytes, because a path may not be valid text
    ) STRICT;
    CREATE TABLE image (
        position INTEGER PRIMARY KEY,       -- from 0, never reused
        hash     TEXT    NOT NULL,          -- of the content; equal for copies
        name     BLOB    NOT NULL,          -- path relative to the image folder, '/' as separator
        status   TEXT    NOT NULL CHECK (status IN ('present', 'missing', 'broken')),
        size     INTEGER,                   -- bytes
        mtime    INTEGER                    -- nanoseconds
    ) STRICT;
    CREATE TABLE orientation (
        id         INTEGER PRIMARY KEY,
        name       TEXT    NOT NULL UNIQUE,
        n_clusters INTEGER CHECK (n_clusters >= 1),
        two_groups INTEGER NOT NULL DEFAULT 0 CHECK (two_groups IN (0, 1)),
        folder     TEXT    NOT NULL UNIQUE  -- below models/
    ) STRICT;
    CREATE TABLE log (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        orientation INTEGER NOT NULL REFERENCES orientation (id),
        kind        TEXT    NOT NULL,       -- pair, choice, label, take_back
        images      TEXT,                   -- JSON list of content hashes
        answer      TEXT,
        "group"     TEXT,
        groups      TEXT,                   -- JSON list of the keys shown with a choice
        takes_back  INTEGER REFERENCES log (id),
        who         TEXT    NOT NULL,
        at          TEXT    NOT NULL,
        seconds     REAL,
        CHECK ((kind = 'take_back') = (takes_back IS NOT NULL)),
        CHECK (kind NOT IN ('pair', 'choice', 'label')
               OR (images IS NOT NULL AND answer IS NOT NULL)),
        CHECK (kind <> 'choice' OR groups IS NOT NULL)
    ) STRICT;
    CREATE INDEX log_by_orientation ON log (orientation, id);
    """,
    # 2: groups with permanent keys. Renames, colours and merges are log entries, so that they
    # can be retracted like an answer.
    """
    CREATE TABLE made_group (
        orientation INTEGER NOT NULL REFERENCES orientation (id),
        number      INTEGER NOT NULL,       -- from 1, in order of creation
        key         TEXT    NOT NULL,
        name        TEXT    NOT NULL,
        colour      TEXT    NOT NULL,
        PRIMARY KEY (orientation, number),
        UNIQUE (orientation, key)
    ) STRICT;
    INSERT INTO made_group (orientation, number, key, name, colour)
        SELECT orientation, row_number() OVER (PARTITION BY orientation ORDER BY min(id)),
               answer, answer, ''
        FROM log
        WHERE kind = 'label' AND answer NOT IN ('cannot_tell', 'bad_image')
        GROUP BY orientation, answer;
    """,
    # 3: the terms of release 0.2. orientation -> criterion, take_back -> retract,
    # stand_by -> confirm. `log` is rebuilt, because a CHECK cannot be altered.
    """
    DROP INDEX log_by_orientation;
    ALTER TABLE orientation RENAME TO criterion;
    ALTER TABLE made_group RENAME COLUMN orientation TO criterion;
    CREATE TABLE new_log (
        id        INTEGER PRIMARY KEY AUTOINCREMENT,
        criterion INTEGER NOT NULL REFERENCES criterion (id),
        kind      TEXT    NOT NULL,         -- an answer: pair, choice, label; a change of a group:
                                            -- rename, colour, merge; confirm; retract
        images    TEXT,                     -- JSON list of content hashes
        answer    TEXT,
        "group"   TEXT,
        groups    TEXT,                     -- JSON list of the keys shown with a choice
        retracts  INTEGER REFERENCES log (id),
        who       TEXT    NOT NULL,
        at        TEXT    NOT NULL,
        seconds   REAL,
        CHECK ((kind = 'retract') = (retracts IS NOT NULL)),
        CHECK (kind NOT IN ('pair', 'choice', 'label')
               OR (images IS NOT NULL AND answer IS NOT NULL)),
        CHECK (kind <> 'choice' OR groups IS NOT NULL)
    ) STRICT;
    INSERT INTO new_log
        SELECT id, orientation,
               CASE kind WHEN 'take_back' THEN 'retract' WHEN 'stand_by' THEN 'confirm'
                    ELSE kind END,
               images, answer, "group", groups, takes_back, who, at, seconds
        FROM log ORDER BY id;
    DROP TABLE log;
    ALTER TABLE new_log RENAME TO log;
    CREATE INDEX log_by_criterion ON log (criterion, id);
    """,
    # 4: the first entry of the action an entry was written with; NULL for the first one itself.
    """
    ALTER TABLE log ADD COLUMN action INTEGER REFERENCES log (id);
    """,
    # 5: grids: answers about several images and one group.
    """
    ALTER TABLE log ADD COLUMN ticked TEXT;  -- JSON list of content hashes, of a grid
    """,
    # 6: the questions in the person's words; NULL where the page makes them from the name.
    """
    ALTER TABLE criterion ADD COLUMN pair_text TEXT;
    ALTER TABLE criterion ADD COLUMN choice_text TEXT;
    """,
)


def read_version(db: sqlite3.Connection) -> int:
    """Return the schema version of a session file.

    Raises
    ------
    SessionError
        If the file is an SQLite database of another program, or an empty one.
    NewerSessionError
        If it was written by a newer release.
    """
    ((application,),) = db.execute("PRAGMA application_id").fetchall()
    ((version,),) = db.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION_ID:
        raise SessionError(
            f"{_path(db)} is an SQLite database but not a likewise session; give the folder of a "
            "session, or create a new one."
        )
    if version > len(MIGRATIONS):
        raise NewerSessionError(
            f"{_path(db)} was written by a newer release (schema {version}, this release supports "
            f"up to {len(MIGRATIONS)}). Upgrade likewise, or use the release that wrote it."
        )
    return int(version)


def _path(db: sqlite3.Connection) -> str:
    return str(db.execute("PRAGMA database_list").fetchone()[2])


def empty_database(version: int) -> sqlite3.Connection:
    """Return a database in memory with the schema of a version, to compare others with."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(db, MIGRATIONS[:version])
    return db


def create_schema(db: sqlite3.Connection) -> None:
    """Mark an empty file as a session and create all tables."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(db)


def migrate(db: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a session file to the newest schema; each migration is one transaction.

    Foreign keys must be off, as a migration may rebuild a table that others refer to.
    """
    version = read_version(db)
    for number, sql in enumerate(migrations[version:], start=version + 1):
        try:
            db.executescript(f"BEGIN IMMEDIATE; {sql}; PRAGMA user_version = {number}; COMMIT;")
        except BaseException as error:
            db.rollback()
            if isinstance(error, sqlite3.IntegrityError):
                raise SessionError(
                    f"{_path(db)} cannot be migrated to schema {number} ({error}); it was changed "
                    "by another program. Ask for an unchanged copy."
                ) from error
            raise
