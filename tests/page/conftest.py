"""A real browser before a real server; skipped, saying so, where there is no Chromium."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from likewise.server.app import create_app
from likewise.server.serve import bind, make_server
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results

CHROMIUM = Path("/usr/bin/chromium")
TOKEN = "a-token-of-our-own"
Open = Callable[..., Page]
expect.set_options(timeout=20_000)  # the machine may be busy


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("there is no /usr/bin/chromium; apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@contextmanager
def served(workspace: Workspace, port: int = 0) -> Iterator[str]:
    """Serve a workspace from a thread; yield the address that opens the page."""
    ready = threading.Event()
    with bind("127.0.0.1", port) as bound:
        server = make_server(create_app(workspace, TOKEN), ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            assert ready.wait(20)
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/?token={TOKEN}"
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = make_session(paint_folder(tmp_path / "photos"))
    save_half_results(session, n_answers=3)
    return session


@pytest.fixture
def workspace(session: Session) -> Iterator[Workspace]:
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


@pytest.fixture
def address(workspace: Workspace) -> Iterator[str]:
    with served(workspace) as address:
        yield address


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open an address in a browser of its own; it must load nothing from elsewhere."""
    with ExitStack() as stack:
        troubles: list[str] = []

        def open_page(address: str, width: int = 1200, height: int = 800) -> Page:
            context: BrowserContext = browser.new_context(
                viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            stack.callback(context.close)
            context.set_default_timeout(20_000)
            page = context.new_page()
            # A handler still at work when its page closes would fail in the next test.
            stack.callback(page.unroute_all, behavior="ignoreErrors")
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("request", lambda r: _note_foreign(r.url, troubles))
            page.goto(address)
            page.wait_for_selector("#view-ask h1")
            return page

        yield open_page
        assert troubles == []


def _note_foreign(url: str, troubles: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        troubles.append(f"loaded {url}")
