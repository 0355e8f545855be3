"""Requests without the token, from other origins, or with an unlimited body are rejected."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from likewise.errors import InvalidParameterError
from likewise.server.app import create_app
from likewise.server.security import MAX_BODY, AccessTokens
from likewise.workspace.workspace import Workspace
from tests.server.conftest import AUTHORISED, TOKEN
from tests.workspace.images import make_session, paint_folder

PATHS = ["/", "/page/app.js", "/api/questions", "/api/status", "/api/images/0", "/openapi.json"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "likewise=x"}]
)
def test_every_path_needs_the_token(
    anonymous: TestClient, path: str, headers: dict[str, str]
) -> None:
    response = anonymous.get(path, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"] == "TokenError"
    assert "likewise start" in response.json()["message"]


def test_a_browser_gets_an_explanation(anonymous: TestClient) -> None:
    response = anonymous.get("/?token=wrong", headers={"Accept": "text/html"})
    assert response.status_code == 401
    assert "Open the address" in response.text
    assert "set-cookie" not in response.headers


def test_the_page_with_the_token_sets_a_cookie(anonymous: TestClient) -> None:
    response = anonymous.get(f"/?token={TOKEN}")
    assert response.status_code == 200
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert anonymous.get("/api/status").status_code == 200
    anonymous.cookies.clear()
    assert (
        anonymous.get(f"/api/status?token={TOKEN}").status_code == 401
    )  # accepted for the page only


def test_the_cookie_is_derived_from_the_token_and_named_by_port(anonymous: TestClient) -> None:
    cookie = anonymous.get(f"/?token={TOKEN}").headers["set-cookie"]
    name, value = cookie.split(";")[0].split("=")
    assert name == "likewise-8000"
    assert TOKEN not in value
    assert len(value) == 64
    bearer = {"Authorization": f"Bearer {value}"}
    assert anonymous.get("/api/status", headers=bearer).status_code == 401
    anonymous.cookies.clear()
    other_port = {"Host": "127.0.0.1:8001", "Cookie": f"{name}={value}"}
    assert anonymous.get("/api/status", headers=other_port).status_code == 401


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "bearer   ", "Bearer wrong"])
def test_an_empty_or_wrong_bearer_token_is_rejected_also_with_a_valid_cookie(
    anonymous: TestClient, header: str
) -> None:
    assert anonymous.get(f"/?token={TOKEN}").status_code == 200
    response = anonymous.get("/api/status", headers={"Authorization": header})
    assert (response.status_code, response.json()["error"]) == (401, "TokenError")


def test_an_app_without_a_token_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(InvalidParameterError, match="token must be a non-empty string"):
        create_app(workspace, "")


def test_a_one_time_token_opens_the_page_once(workspace: Workspace) -> None:
    app = create_app(workspace, TOKEN)
    once = app.state.tokens.issue_one_time()
    browser, other = (TestClient(app, base_url="http://127.0.0.1:8000") for _ in range(2))
    assert browser.get(f"/api/status?token={once}").status_code == 401
    bearer = {"Authorization": f"Bearer {once}"}
    assert browser.get("/api/status", headers=bearer).status_code == 401
    assert browser.get(f"/?token={once}").status_code == 200
    assert browser.get("/api/status").status_code == 200
    assert browser.get(f"/?token={once}").status_code == 200  # reloaded, with the cookie
    assert other.get(f"/?token={once}").status_code == 401


def test_a_one_time_token_is_used_up_by_a_browser_that_has_the_cookie(workspace: Workspace) -> None:
    app = create_app(workspace, TOKEN)
    once = app.state.tokens.issue_one_time()
    browser, other = (TestClient(app, base_url="http://127.0.0.1:8000") for _ in range(2))
    assert browser.get(f"/?token={TOKEN}").status_code == 200
    assert browser.get(f"/?token={once}").status_code == 200
    assert other.get(f"/?token={once}").status_code == 401


def test_a_one_time_token_is_valid_for_one_minute() -> None:
    now = [0.0]
    tokens = AccessTokens(TOKEN, clock=lambda: now[0])
    early, late = tokens.issue_one_time(), tokens.issue_one_time()
    now[0] = 59.9
    assert tokens.use_one_time(early)
    now[0] = 60.1
    assert not tokens.use_one_time(late)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_any_host_allows_every_ip_address_and_no_name(workspace: Workspace, host: str) -> None:
    client = TestClient(create_app(workspace, TOKEN, [host]), headers=AUTHORISED)
    for name, status in [("192.0.2.7:80", 200), ("[2001:db8::7]:80", 200), ("evil.example", 403)]:
        assert client.get("/api/status", headers={"Host": name}).status_code == status


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:8000"])
def test_another_host_is_rejected(client: TestClient, host: str) -> None:
    assert client.get("/api/status", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9"])
def test_another_origin_is_rejected(client: TestClient, origin: str) -> None:
    response = client.post("/api/undo", headers={"Origin": origin})
    assert (response.status_code, response.json()["error"]) == (403, "WrongOriginError")
    own = client.post("/api/undo", headers={"Origin": "http://127.0.0.1:8000"})
    assert own.status_code == 200


@pytest.mark.parametrize("origin", ["https://127.0.0.1:8000", "ws://127.0.0.1:8000", ""])
def test_an_origin_of_another_scheme_is_rejected(client: TestClient, origin: str) -> None:
    response = client.post("/api/undo", headers={"Origin": origin})
    assert (response.status_code, response.json()["error"]) == (403, "WrongOriginError")


@pytest.mark.parametrize(
    "host", ["user@127.0.0.1:8000", "a:b@localhost", "127.0.0.1:8000/x", "::1"]
)
def test_a_host_with_more_than_name_and_port_is_rejected(client: TestClient, host: str) -> None:
    response = client.get("/api/status", headers={"Host": host})
    assert (response.status_code, response.json()["error"]) == (403, "WrongHostError")


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_requests_from_another_site_or_port_are_rejected_except_links(
    client: TestClient, site: str
) -> None:
    sent = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=sent).status_code == 200  # a link to the page
    assert client.post("/api/undo", headers=sent).status_code == 403  # a form
    embedded = {"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "image"}
    assert client.get("/api/images/0", headers=embedded).status_code == 403
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}
    assert client.post("/api/undo", headers=own).status_code == 200


def test_a_large_body_is_rejected(client: TestClient) -> None:
    assert client.post("/api/answers", content=b"x" * (MAX_BODY + 1)).status_code == 413


def test_a_large_body_without_content_length_is_rejected(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_BODY // 1024 + 2):
            yield b" " * 1024

    response = client.post("/api/answers", content=chunks())
    assert (response.status_code, response.json()["error"]) == (413, "BodyTooLargeError")


@pytest.mark.parametrize("path", ["/", "/api/status", "/api/images/0/thumbnail", "/nothing"])
def test_every_response_has_the_security_headers(client: TestClient, path: str) -> None:
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
def test_no_path_leads_outside_of_the_page(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (400, 404, 422)
    assert set(response.json()) == {"error", "message"}


def test_image_metadata_is_not_sent(tmp_path: Path) -> None:
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


def test_a_changed_file_is_not_served(client: TestClient, folder: Path) -> None:
    (folder / "00red.png").write_bytes((folder / "01blue.png").read_bytes())
    response = client.get("/api/images/0")
    assert response.status_code == 410
    assert "was changed since it was scanned" in response.json()["message"]


def test_the_page_links_to_no_other_site(client: TestClient) -> None:
    text = client.get("/").text + client.get("/start").text
    parts = re.findall(r'(?:src|href)="([^"]+)"', text)
    scripts = [client.get(part).text for part in parts if part.startswith("/page/")]
    assert len(scripts) >= 2
    assert not re.search(r"https?://(?!www\.w3\.org/)", "".join([text, *scripts]))
    assert AUTHORISED["Authorization"] not in text


class TestReadOnlyLink:
    """The link for viewers shows groups and exports; it changes nothing and asks nothing."""

    @pytest.fixture
    def viewer(self, client: TestClient) -> TestClient:
        url = client.get("/api/access").json()["viewer_url"]
        other = TestClient(client.app, base_url="http://127.0.0.1:8000")
        assert other.get(url).status_code == 200
        return other

    def test_a_viewer_sees_groups_and_exports_them(self, viewer: TestClient) -> None:
        assert viewer.get("/api/access").json() == {
            "read_only": True,
            "url": None,
            "qr": None,
            "viewer_url": None,
            "person": "",
            "role": "",
        }
        assert len(viewer.get("/api/groups").json()["groups"]) == 2
        assert viewer.get("/api/images/0").status_code == 200
        assert viewer.get("/api/export", params={"to": "csv"}).status_code == 200

    def test_a_viewer_changes_nothing(self, viewer: TestClient) -> None:
        for method, paths in {
            "POST": "answers undo moves groups criteria folders open rescan answers/1/confirm",
            "PATCH": "groups/g1 criteria",
            "DELETE": "answers/1",
            "GET": "questions folders start",
        }.items():
            for path in paths.split():
                response = viewer.request(method, f"/api/{path}")
                assert (response.status_code, path) == (403, path)
                assert response.json()["error"] == "ReadOnlyError"
        assert viewer.get("/start").status_code == 403

    def test_the_token_of_a_viewer_works_as_bearer_and_is_not_that_of_the_owner(
        self, viewer: TestClient, client: TestClient
    ) -> None:
        token = client.get("/api/access").json()["viewer_url"].partition("token=")[2]
        bearer = TestClient(client.app, base_url="http://127.0.0.1:8000")
        bearer.headers["Authorization"] = f"Bearer {token}"
        assert bearer.get("/api/status").status_code == 200
        assert bearer.post("/api/undo", json={}).status_code == 403
        assert TOKEN not in token
        assert token not in str(viewer.cookies)
