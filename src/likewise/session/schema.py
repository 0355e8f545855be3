"""The tables of a session, as numbered steps from an empty file to the newest form."""

import sqlite3
from collections.abc import Sequence

from likewise.errors import NewerSessionError, SessionError

APPLICATION_ID = 0x4C494B45  # "LIKE": tells our files from other SQLite files

MIGRATIONS: Sequence[str] = (
    # 1: the images, the ways to sort them, and everything people said.
    """
    CREATE TABLE fact (
        name  TEXT PRIMARY KEY,
        value BLOB NOT NULL                 -- UTF-8; bytes, since a path need not be text
    ) STRICT;
    CREATE TABLE image (
        position INTEGER PRIMARY KEY,       -- from 0, never given anew
        hash     TEXT    NOT NULL,          -- of the content; copies share it
        name     BLOB    NOT NULL,          -- path below the folder, '/' between its parts
        status   TEXT    NOT NULL CHECK (status IN ('present', 'missing', 'broken')),
        size     INTEGER,                   -- bytes
        mtime    INTEGER                    -- nanoseconds
    ) STRICT;
    CREATE TABLE orientation (
        id         INTEGER PRIMARY KEY,
        name       TEXT    NOT NULL UNIQUE, -- the person's words
        n_clusters INTEGER CHECK (n_clusters >= 1),
        two_groups INTEGER NOT NULL DEFAULT 0 CHECK (two_groups IN (0, 1)),
        folder     TEXT    NOT NULL UNIQUE  -- below models/, fit for any disk
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
    # 2: groups with keys that never change. What people do to them (kinds rename,
    # colour and merge) goes to the log, so that it can be taken back like an answer.
    """
    CREATE TABLE made_group (
        orientation INTEGER NOT NULL REFERENCES orientation (id),
        number      INTEGER NOT NULL,       -- from 1, in the order they were made
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
)


def version_of(db: sqlite3.Connection) -> int:
    """Return the schema number of a session file.

    Raises
    ------
    SessionError
        If the file is some other SQLite file, or an empty one.
    NewerSessionError
        If it was written by a newer release.
    """
    ((application,),) = db.execute("PRAGMA application_id").fetchall()
    ((version,),) = db.execute("PRAGMA user_version").fetchall()
    if application != APPLICATION_ID:
        raise SessionError(
            f"{_path(db)} is a database, but not one of likewise; give the folder of a session, or "
            "begin a new one."
        )
    if version > len(MIGRATIONS):
        raise NewerSessionError(
            f"{_path(db)} was written by a newer release (schema {version}; this one knows "
            f"{len(MIGRATIONS)}). Upgrade, or open it with the release that wrote it."
        )
    return int(version)


def _path(db: sqlite3.Connection) -> str:
    """Return where the file is, for messages."""
    return str(db.execute("PRAGMA database_list").fetchone()[2])


def begin(db: sqlite3.Connection) -> None:
    """Mark an empty file as ours and bring it to the newest schema."""
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(db)


def migrate(db: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a session file to the newest schema, each step whole or not at all."""
    version = version_of(db)
    for number, sql in enumerate(migrations[version:], start=version + 1):
        try:
            db.executescript(f"BEGIN IMMEDIATE; {sql}; PRAGMA user_version = {number}; COMMIT;")
        except BaseException:
            db.rollback()
            raise
