from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.session import Session
from tests.session.pictures import pictures


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the folder of a session of 20 pictures, closed, sorted by season."""
    path = tmp_path / "holiday.likewise"
    with Session.create(path, pictures(20)) as session:
        session.add_criterion("season")
    return path


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    """Return that session, open for writing."""
    with Session.open(path) as session:
        yield session
