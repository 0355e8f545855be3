"""The Export menu: folders, rescans, and images that are missing."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer
from tests.page.conftest import Open
from tests.workspace.images import paint_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def folder(session: Session) -> Path:
    assert session.root is not None
    return session.root


def test_pictures_are_exported_to_folders(address: str, open_page: Open, folder: Path) -> None:
    page = open_page(address)
    page.locator("#export > summary").click()
    page.get_by_label("Copy or link the pictures").select_option("symlink")
    page.locator("#export-folders").click()
    expect(page.locator(".result")).to_contain_text("12 pictures sorted into")
    assert (folder.with_name("photos by colour") / "group 1" / "00red.png").is_symlink()


def test_only_chosen_groups_are_exported(address: str, open_page: Open, folder: Path) -> None:
    page = open_page(address)
    page.locator("#export > summary").click()
    page.locator("#export-groups > summary").click()
    expect(page.locator("#export-groups label")).to_have_text(["group 16", "group 26"])
    page.get_by_label("group 1").uncheck()
    expect(page.locator("#export-groups > summary")).to_have_text("1 of 2 groups")
    csv = page.locator("#export-links a[data-to=csv]")
    expect(csv).to_have_attribute("href", "/api/export?by=colour&to=csv&group=g2")
    page.locator("#export-folders").click()
    expect(page.locator(".result")).to_contain_text("6 pictures sorted into")
    page.get_by_label("group 2").click()  # the last one stays
    expect(page.get_by_label("group 2")).to_be_checked()


def test_a_read_only_link_shows_groups_and_offers_no_change(address: str, open_page: Open) -> None:
    page = open_page(address)
    page.get_by_role("button", name="Phone and sharing").click()
    dialog = page.get_by_role("dialog", name="Phone and sharing")
    expect(dialog).to_contain_text("likewise start … --lan")
    url = dialog.get_by_label("Address").input_value()
    assert page.context.browser is not None
    viewer = page.context.browser.new_page()  # another person, without the cookie
    viewer.goto(url)
    expect(viewer.locator("section[data-group=g1] .tile")).to_have_count(6)
    for name in ("#tab-ask", "#add-criterion", ".check-group", "#rescan", ".tools"):
        expect(viewer.locator(name).first).to_be_hidden()
    status = viewer.evaluate("fetch('/api/undo', {method: 'POST'}).then((r) => r.status)")
    assert status == 403
    viewer.close()


def test_a_rescan_finds_new_and_missing_pictures(
    address: str, open_page: Open, folder: Path, tmp_path: Path
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    expect(page.locator("section[data-group=g1] .tile")).to_have_count(6)
    shutil.copy(paint_folder(tmp_path / "extra", 13) / "12red.png", folder)
    (folder / "00red.png").unlink()
    page.locator("#export > summary").click()
    page.locator("#rescan").click()
    expect(page.locator("#activity")).to_have_text("Pictures in the folder: 1 new, 1 missing.")
    expect(page.locator("section[aria-label=New] .tile")).to_have_count(1)
    expect(page.locator("section[aria-label=New] .mark")).to_have_text("new")
    expect(page.locator("#counts")).to_contain_text("12 pictures, 1 missing")


def test_a_missing_folder_is_reported_and_answers_are_still_stored(
    address: str, open_page: Open, folder: Path, workspace: Workspace
) -> None:
    page = open_page(address)
    folder.rename(folder.with_name("away"))
    answer(page, "s")
    assert len(workspace.session.answers("colour")) == 1
    page.locator("#export > summary").click()
    page.locator("#rescan").click()
    expect(page.locator("#problem")).to_contain_text("The image folder cannot be reached")
    folder.with_name("away").rename(folder)
    workspace.rescan()
    expect(page.locator("#problem")).to_be_hidden()


def test_files_that_cannot_be_shown_are_named_with_the_reason(
    address: str, open_page: Open, folder: Path, workspace: Workspace
) -> None:
    (folder / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    workspace.rescan()
    page = open_page(address)
    page.get_by_role("button", name="1 not shown").click()
    dialog = page.get_by_role("dialog", name="Files that are not shown")
    expect(dialog).to_contain_text("1 file: is not a supported image: it contains an SVG drawing")
    expect(dialog.get_by_role("listitem")).to_have_text("logo.svg")
    page.keyboard.press("Escape")
    answer(page, "s")  # the keys answer again


def test_an_unreadable_picture_is_reported_and_its_question_can_be_answered(
    address: str, open_page: Open, folder: Path, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill([Question.pair(0, 2)])
    (folder / "00red.png").write_bytes(b"no picture")
    page = open_page(address)
    expect(page.locator(".picture img.missing")).to_have_attribute(
        "alt", re.compile("cannot be shown")
    )
    answer(page, "x")
    assert workspace.session.answers("colour")[0].answer == "bad_image"


def test_the_export_menu_shows_the_result_and_closes(
    address: str, open_page: Open, session: Session
) -> None:
    page = open_page(address)
    menu, result = page.locator("#export"), page.locator("#export .result")
    menu.locator("> summary").click()
    page.locator("#rescan").click()
    expect(result).to_have_text("No changes in the folder.")
    assert session.root is not None
    Path(session.root).rename(session.root.with_name("away"))
    page.locator("#rescan").click()
    expect(page.locator("#problem")).to_contain_text("The image folder cannot be reached")
    expect(result).to_be_empty()
    page.get_by_label("Copy or link the pictures").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#rescan")).to_be_hidden()
    expect(menu.locator("> summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#rescan")).to_be_visible()
    page.keyboard.press("g")
    expect(page.locator("#rescan")).to_be_hidden()
