from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.server.app import create_app
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results

TOKEN = "a-token-of-our-own"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paint_folder(tmp_path / "photos")


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    """A workspace without a trainer, whose groups are reds and blues."""
    session = make_session(folder)
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


@pytest.fixture
def stranger(workspace: Workspace) -> TestClient:
    """A client without a token; errors of ours come as they would over the wire."""
    app = create_app(workspace, TOKEN)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.fixture
def client(stranger: TestClient) -> TestClient:
    stranger.headers.update(AUTHORISED)
    return stranger
