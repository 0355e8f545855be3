from collections.abc import Iterator
from pathlib import Path

import pytest

from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paint_folder(tmp_path / "photos")


@pytest.fixture
def session(folder: Path) -> Session:
    return make_session(folder)


@pytest.fixture
def workspace(session: Session) -> Iterator[Workspace]:
    """A workspace without a worker: nothing changes but by the test."""
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


@pytest.fixture
def trained_workspace(session: Session) -> Iterator[Workspace]:
    """A workspace whose model has separated red and blue images."""
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        yield workspace
