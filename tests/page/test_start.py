"""The start page: a folder is chosen, its criterion is asked for, the first question appears."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from likewise.server.app import create_start_app
from likewise.server.launcher import Launcher
from tests.page.conftest import TOKEN, Open, served_app
from tests.workspace.images import paint_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]

DROP = """(text) => {
  const data = new DataTransfer();
  data.setData("text/uri-list", text);
  document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
}"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    paint_folder(tmp_path / "home" / "my photos", 24)
    paint_folder(tmp_path / "disk" / "scans")
    (tmp_path / "outside").mkdir()
    return tmp_path / "home"


@pytest.fixture
def start_address(home: Path) -> Iterator[str]:
    launcher = Launcher([home, home.with_name("disk")])
    with served_app(create_start_app(launcher, TOKEN)) as address:
        yield address
    launcher.close()
    for child in launcher._children:
        child.wait(30)


def test_from_the_start_page_to_the_first_question(
    start_address: str, open_page: Open, home: Path
) -> None:
    page = open_page(start_address, is_introduced=False)
    page.get_by_role("button", name="my photos").click()
    expect(page.locator("#folder-status")).to_have_text("24 pictures in this folder")
    page.get_by_role("button", name="Group this folder").click()
    wanted = page.get_by_label("What do you want to group by?")
    expect(wanted).to_be_focused(timeout=60_000)
    page.get_by_role("button", name="main colour").click()
    expect(page.get_by_label("Two pictures")).to_have_attribute("placeholder", "Same main colour?")
    page.keyboard.press("Enter")
    expect(page.locator("h1#question")).to_have_text("Same main colour?", timeout=60_000)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    page.locator("#intro-next").click()
    page.locator("#brand").click()  # other folders and sessions
    expect(page.locator(".card b")).to_have_text("my photos")


def test_folders_are_shown_by_their_path_by_a_drop_and_of_several_roots(
    start_address: str, open_page: Open, home: Path
) -> None:
    page = open_page(start_address)
    path, problem = page.get_by_label("Path of the folder"), page.locator("#problem")
    page.get_by_role("button", name=str(home.with_name("disk"))).click()
    expect(page.get_by_role("button", name="scans")).to_be_visible()
    page.evaluate(DROP, (home / "my photos").as_uri())
    expect(path).to_have_value(str(home / "my photos"))
    path.fill(str(home.with_name("outside")))
    path.press("Enter")
    expect(problem).to_contain_text("must be below")
    page.evaluate(DROP, "")
    expect(problem).to_contain_text("does not tell the path")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
