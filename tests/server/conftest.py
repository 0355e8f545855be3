from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.desk.desk import Desk
from likewise.server.app import create_app
from tests.desk.folder import make_session, paint_folder, sort_by_halves

TOKEN = "a-token-for-tests"
AUTHORISED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paint_folder(tmp_path / "photos")


@pytest.fixture
def desk(folder: Path) -> Iterator[Desk]:
    """A workspace without a worker; its groups are red and blue pictures."""
    session = make_session(folder)
    sort_by_halves(session, n_answers=3)
    with Desk(session, trains=False) as desk:
        yield desk


@pytest.fixture
def anonymous(desk: Desk) -> TestClient:
    """A client without a token; errors are responses, as over the network."""
    app = create_app(desk, TOKEN)
    return TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)


@pytest.fixture
def client(anonymous: TestClient) -> TestClient:
    anonymous.headers.update(AUTHORISED)
    return anonymous
