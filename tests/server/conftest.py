from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.server.app import create_app
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results

TOKEN = "a-token-for-tests"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paint_folder(tmp_path / "photos")


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    """A workspace without a worker; its groups are red and blue pictures."""
    session = make_session(folder)
    save_half_results(session, n_answers=3)
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


@pytest.fixture
def anonymous(workspace: Workspace) -> TestClient:
    """A client without a token; errors are responses, as over the network."""
    app = create_app(workspace, TOKEN)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.fixture
def client(anonymous: TestClient) -> TestClient:
    anonymous.headers.update(AUTHORISED)
    return anonymous
