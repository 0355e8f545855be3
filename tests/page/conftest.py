"""A real browser and a real server; the tests are skipped where Chromium is missing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from likewise.server.app import create_app
from likewise.server.serve import bind, make_server
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.workspace.images import make_session, paint_folder, save_half_results

CHROMIUM = Path("/usr/bin/chromium")
TOKEN = "a-token-for-tests"
Open = Callable[..., Page]
expect.set_options(timeout=20_000)  # the machine may be busy


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("/usr/bin/chromium is missing; run apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


def served(workspace: Workspace, port: int = 0) -> AbstractContextManager[str]:
    """Serve a workspace in a thread; the context is the address that opens the page."""
    return served_app(create_app(workspace, TOKEN), port)


@contextmanager
def served_app(app: FastAPI, port: int = 0) -> Iterator[str]:
    """Serve an application in a thread; yield the address that opens its page."""
    ready = threading.Event()
    with bind("127.0.0.1", port) as bound:
        server = make_server(app, ready.set)
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
    """Open an address in a new browser context; the page must load nothing from other sites."""
    with ExitStack() as stack:
        errors: list[str] = []

        def open_page(
            address: str,
            width: int = 1200,
            height: int = 800,
            is_introduced: bool = True,
            **options: Any,
        ) -> Page:
            context: BrowserContext = browser.new_context(
                viewport={"width": width, "height": height}, reduced_motion="reduce", **options
            )
            stack.callback(context.close)
            context.set_default_timeout(20_000)
            if is_introduced:
                context.add_init_script("localStorage.setItem('likewise-introduced', 'yes')")
            page = context.new_page()
            # A handler that runs while its page closes would fail in the next test.
            stack.callback(page.unroute_all, behavior="ignoreErrors")
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("request", lambda r: _check_same_site(r.url, errors))
            page.goto(address)
            page.wait_for_selector("#view-ask h1, #view-first form, .start")
            return page

        yield open_page
        assert errors == []


def _check_same_site(url: str, errors: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        errors.append(f"loaded {url}")
