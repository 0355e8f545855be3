from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.desk.desk import Desk
from likewise.session import Session
from tests.desk.folder import make_session, paint_folder, sort_by_halves


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paint_folder(tmp_path / "photos")


@pytest.fixture
def session(folder: Path) -> Session:
    return make_session(folder)


@pytest.fixture
def desk(session: Session) -> Iterator[Desk]:
    """A desk without a trainer: nothing happens but what the test does."""
    with Desk(session, trains=False) as desk:
        yield desk


@pytest.fixture
def sorted_desk(session: Session) -> Iterator[Desk]:
    """A desk whose model has put reds and blues apart."""
    sort_by_halves(session, n_answers=3)
    with Desk(session, trains=False) as desk:
        yield desk
