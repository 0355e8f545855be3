"""The widget in JupyterLab with a real kernel and a real browser."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
CELLS = [
    """
import numpy as np
from likewise import Likewise
images = np.zeros((12, 20, 30, 3), np.uint8)
images[:6, ..., 0] = images[6:, ..., 2] = 200
mean_colour = lambda pictures: np.array([np.asarray(one).mean((0, 1)) for one in pictures])
model = Likewise(2, kinds="pair,choice", encoder=mean_colour, random_state=0).start(images)
model.ask_widget(by="colour", train_after=2)
""",
    """
from pathlib import Path
Path("answers.txt").write_text(str(model.constraints_.n_answers))
model
""",
]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("jupyterlab")]
TOKEN = "a-token-for-tests"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Serve a notebook with `CELLS`; yield its address."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "execution_count": None}
        | {"outputs": [], "source": source.strip()}
        for i, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "ask.ipynb").write_text(json.dumps(book))
    environment = {
        **os.environ,
        **{f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "RUNTIME", "DATA")},
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    options = ["--port=0", "--ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    log = tmp_path / "lab.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*command, *options], cwd=tmp_path, env=environment, stdout=stream, stderr=stream
        )
        try:
            yield f"{address(log, server)}/lab/tree/ask.ipynb?reset&token={TOKEN}"
        finally:
            server.terminate()
            server.wait(30)


def address(log: Path, server: "subprocess.Popen[bytes]") -> str:
    end = time.monotonic() + 90
    while time.monotonic() < end and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        if found:
            return found.group()
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-2000:])


@pytest.fixture
def page() -> Iterator[Page]:
    if not CHROMIUM.exists():
        pytest.skip("/usr/bin/chromium is missing; run apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser.new_page(viewport={"width": 1200, "height": 1000})
        browser.close()


def run_cell(page: Page, number: int) -> None:
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Control+Enter")


def test_questions_are_answered_in_jupyterlab(lab: str, page: Page, tmp_path: Path) -> None:
    expect.set_options(timeout=60_000)
    page.goto(lab)
    expect(page.locator(".jp-CodeCell")).to_have_count(2, timeout=90_000)
    expect(page.locator("[data-status=idle]").first).to_be_attached(timeout=90_000)
    view = page.locator("#view-ask")
    for timeout in (30_000, 90_000):  # a kernel that is still starting may lose the first request
        run_cell(page, 0)
        with suppress(AssertionError):
            expect(view.locator("h1")).to_contain_text("colour?", timeout=timeout)
            break
    expect(page.get_by_text("12 of 12")).to_be_visible()  # the bar of the embedding
    n_loaded = "images => images.every(one => one.complete && one.naturalWidth > 0)"
    for n_answers in range(1, 4):
        assert view.locator("img").evaluate_all(n_loaded)
        is_pair = view.locator(".pictures.pair").count() == 1
        if n_answers == 2:  # by a key
            view.focus()
            page.keyboard.press("d" if is_pair else "1")
        else:
            view.locator("[data-answer=different]" if is_pair else ".choices button").first.click()
        expect(view.locator(".note")).to_contain_text(f"{n_answers} answer")
    view.locator("#undo").click()
    expect(view.locator(".note")).to_contain_text("2 answers")
    assert page.locator("#view-ask .picture img").first.bounding_box()["height"] > 80  # type: ignore[index]
    run_cell(page, 1)
    expect(page.locator(".jp-OutputArea-output", has_text="12 images in 2 groups")).to_be_visible()
    assert (tmp_path / "answers.txt").read_text() == "2"
