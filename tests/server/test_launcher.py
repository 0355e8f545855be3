"""The start page's work: folders below the roots, recent sessions, and opening them."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from likewise.errors import InvalidParameterError
from likewise.server.app import create_start_app
from likewise.server.launcher import Launcher, remember_session
from tests.server.conftest import AUTHORISED, TOKEN
from tests.workspace.images import make_session, paint_folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    paint_folder(tmp_path / "home" / "photos")
    paint_folder(tmp_path / "outside")
    return tmp_path / "home"


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    launcher = Launcher([home])
    app = create_start_app(launcher, TOKEN)
    client = TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
    client.headers.update(AUTHORISED)
    yield client
    launcher.close()


def test_folders_below_the_root_are_listed(client: TestClient, home: Path) -> None:
    (home / ".hidden").mkdir()
    (home / "photos.likewise").mkdir()
    assert client.get("/api/folders").json() == {
        "path": str(home),
        "parent": None,
        "folders": ["photos"],
        "n_images": 0,
    }
    inside = client.get("/api/folders", params={"path": str(home / "photos")}).json()
    assert (inside["parent"], inside["n_images"]) == (str(home), 12)


def test_no_folder_outside_the_root_is_read_or_opened(client: TestClient, home: Path) -> None:
    (home / "link").symlink_to(home.parent / "outside")
    wrong = ["/", "..", f"{home}/..", f"{home}/../outside", f"{home}/link", "~root", "a\0b"]
    for path in [*wrong, str(home / "missing"), str(home / "photos" / "00red.png")]:
        for response in (
            client.get("/api/folders", params={"path": path}),
            client.post("/api/open", json={"folder": path}),
        ):
            assert (response.status_code, path) == (400, path)
            assert "outside" not in response.json().get("folders", [])
    assert not (home.parent / "outside.likewise").exists()
    assert "link" not in client.get("/api/folders").json()["folders"]


def test_a_folder_is_opened_and_can_be_continued(home: Path) -> None:
    launcher = Launcher([home])
    try:
        address = launcher.open_folder(str(home / "photos"))
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"view-first" in page.read()
        assert launcher.open_recent(0) == address  # it runs already
        (recent,) = launcher.recent()
        assert (recent.folder, recent.n_images, recent.criteria) == (home / "photos", 12, [])
        assert len(launcher.thumbnail(0, recent.thumbnails[0])) > 100
    finally:
        launcher.close()
    for child in launcher._children:
        assert child.wait(30) is not None


def test_a_folder_without_pictures_is_refused_with_the_reason(home: Path) -> None:
    (home / "empty").mkdir()
    with pytest.raises(InvalidParameterError, match="empty"):
        Launcher([home]).open_folder(str(home / "empty"))


def test_a_session_that_disappeared_is_not_listed(client: TestClient, home: Path) -> None:
    make_session(home / "photos").close()
    remember_session(home / "photos.likewise")
    assert [one["name"] for one in client.get("/api/start").json()["recent"]] == ["photos"]
    (home / "photos.likewise").rename(home / "elsewhere")
    assert client.get("/api/start").json()["recent"] == []
    response = client.post("/api/open", json={"session": 0})
    assert response.status_code == 400
