"""Who is let in: nobody without the token, from elsewhere, or with a body without end."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from likewise.server.app import create_app
from likewise.server.guard import MAX_BODY
from likewise.workspace.workspace import Workspace
from tests.server.conftest import AUTHORISED, TOKEN
from tests.workspace.images import make_session, paint_folder

PATHS = ["/", "/page/app.js", "/api/questions", "/api/status", "/api/images/0", "/openapi.json"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "likewise=x"}]
)
def test_nothing_is_shown_without_the_token(
    stranger: TestClient, path: str, headers: dict[str, str]
) -> None:
    response = stranger.get(path, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"] == "TokenError"
    assert "likewise start" in response.json()["message"]


def test_a_person_reads_why(stranger: TestClient) -> None:
    response = stranger.get("/?token=wrong", headers={"Accept": "text/html"})
    assert response.status_code == 401
    assert "Open the address" in response.text
    assert "set-cookie" not in response.headers


def test_the_address_with_the_token_opens_everything(stranger: TestClient) -> None:
    response = stranger.get(f"/?token={TOKEN}")
    assert response.status_code == 200
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert stranger.get("/api/status").status_code == 200
    stranger.cookies.clear()
    assert stranger.get(f"/api/status?token={TOKEN}").status_code == 401  # for the page only


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_is_ours_if_that_was_wanted_and_no_other_name(
    workspace: Workspace, host: str
) -> None:
    client = TestClient(create_app(workspace, TOKEN, [host]), headers=AUTHORISED)
    for name, status in [("192.0.2.7:80", 200), ("[2001:db8::7]:80", 200), ("evil.example", 403)]:
        assert client.get("/api/status", headers={"Host": name}).status_code == status


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:8000"])
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/status", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9"])
def test_another_origin_is_refused_and_changes_nothing(client: TestClient, origin: str) -> None:
    response = client.post("/api/undo", headers={"Origin": origin})
    assert (response.status_code, response.json()["error"]) == (403, "WrongOriginError")
    own = client.post("/api/undo", headers={"Origin": "http://127.0.0.1:8000"})
    assert own.status_code == 200


def test_a_body_that_is_too_large_is_refused(client: TestClient) -> None:
    assert client.post("/api/answers", content=b"x" * (MAX_BODY + 1)).status_code == 413


def test_so_is_one_that_does_not_say_how_large_it_is(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 1024 + 2):
            yield b" " * 1024

    response = client.post("/api/answers", content=pieces())
    assert (response.status_code, response.json()["error"]) == (413, "TooLargeError")


@pytest.mark.parametrize("path", ["/", "/api/status", "/api/images/0/thumbnail", "/nothing"])
def test_every_reply_forbids_what_is_not_ours(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py",
        "/page/..%2fapp.py",
        "/page/%2e%2e/%2e%2e/errors.py",
        "/api/images/..%2f..%2fetc%2fpasswd",
        "/api/images/-1",
        "/api/images/12",
        "/api/images/99999999999999999999",
        "/api/images/0/../../../etc/passwd",
        "/etc/passwd",
    ],
)
def test_there_is_no_path_to_walk(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (400, 404, 422)
    assert set(response.json()) == {"error", "message"}


def test_metadata_is_not_sent(tmp_path: Path) -> None:
    folder = paint_folder(tmp_path / "more", 2)
    exif = Image.Exif()
    exif[0x010F] = "SECRETCAMERA"
    with Image.open(folder / "00red.png") as picture:
        picture.convert("RGB").save(folder / "00red.jpg", exif=exif)
    assert b"SECRETCAMERA" in (folder / "00red.jpg").read_bytes()
    with Workspace(make_session(folder), has_worker=False) as workspace:
        client = TestClient(create_app(workspace, TOKEN), "http://localhost", headers=AUTHORISED)
        assert workspace.session.images.names[0] == "00red.jpg"
        for path in ("/api/images/0", "/api/images/0/thumbnail"):
            content = client.get(path).content
            assert content[:4] == b"RIFF"
            assert b"SECRET" not in content
            assert b"EXIF" not in content


def test_a_picture_that_became_another_is_not_shown(client: TestClient, folder: Path) -> None:
    (folder / "00red.png").write_bytes((folder / "01blue.png").read_bytes())
    response = client.get("/api/images/0")
    assert response.status_code == 410
    assert "was changed since it was scanned" in response.json()["message"]


def test_the_page_names_no_other_place(client: TestClient) -> None:
    text = client.get("/").text
    parts = re.findall(r'(?:src|href)="([^"]+)"', text)
    scripts = [client.get(part).text for part in parts if part.startswith("/page/")]
    assert len(scripts) >= 2
    assert not re.search(r"https?://", "".join([text, *scripts]))
    assert AUTHORISED["Authorization"] not in text
