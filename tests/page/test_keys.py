"""Keyboard shortcuts: changing them, typing, held keys, and the focus."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from likewise.workspace.workspace import Workspace
from tests.page.actions import (
    answer,
    answer_all,
)
from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_all_questions_names_and_export_with_the_keyboard_alone(
    address: str, open_page: Open, workspace: Workspace, tmp_path: Path
) -> None:
    page = open_page(address)
    n = answer_all(page, 80)
    expect(page.locator(".done h1")).to_have_text("No questions left.")
    assert n == len(workspace.session.answers("colour"))
    page.keyboard.press("g")
    expect(page.locator("section.group[data-group]")).to_have_count(2)
    page.locator("[data-focus=name-g1]").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("sunset")
    page.keyboard.press("Enter")
    expect(page.locator("section[aria-label=sunset]")).to_be_visible()
    page.locator("#export > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")  # which groups
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert {(row["path"][2:-4], row["name"]) for row in rows} == {
        ("red", "sunset"),
        ("blue", "group 2"),
    }


def test_typing_a_name_does_not_answer(address: str, open_page: Open, workspace: Workspace) -> None:
    page = open_page(address)
    page.keyboard.press("?")
    page.locator("#dialog-help input").fill("sad dx")
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog-help")).to_be_hidden()
    assert workspace.session.answers("colour") == []
    answer(page, "s")
    assert workspace.session.answers("colour")[0].who == "sad dxs"


def test_keys_are_changed_stored_in_the_browser_and_reset(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("?")
    page.locator("[data-action=same]").click()
    page.keyboard.press("j")
    expect(page.locator("dl.keys").first).to_contain_text("J")
    page.locator("[data-action=different]").click()
    page.keyboard.press("j")
    expect(page.locator("#dialog-help .badge")).to_contain_text("J is already “same”")
    page.keyboard.press("Escape")
    expect(page.locator("[data-answer=same] kbd")).to_have_text("J")
    page.reload()
    page.wait_for_selector("[data-answer=same]")
    page.keyboard.press("s")  # has no action now
    answer(page, "j")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["same"]
    page.keyboard.press("?")
    page.get_by_role("button", name="Default keys").click()
    page.keyboard.press("Escape")
    answer(page, "s")
    assert len(workspace.session.answers("colour")) == 2


def test_a_held_key_answers_one_question_only(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    ask, counts = page.locator("#view-ask"), page.locator("#counts b")

    def hold(key: str, text: str) -> None:
        page.keyboard.down(key)
        expect(counts).to_have_text(text)
        for _ in range(3):
            page.keyboard.down(key)
            page.wait_for_timeout(100)
        page.keyboard.up(key)
        page.wait_for_timeout(200)
        expect(counts).to_have_text(text)

    hold("Space", "1 answer")
    page.keyboard.press("Tab")
    ask.locator("[data-answer=different]").focus()
    hold("Enter", "2 answers")
    hold("u", "1 answer")
    page.keyboard.press("u")
    expect(counts).to_have_text("0 answers")


def test_the_focus_stays_after_a_key_and_leaves_after_a_click(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    expect(page.locator("#counts")).to_contain_text("0 answers")  # the status is shown
    page.keyboard.press("Tab")
    page.locator("[data-answer=different]").focus()
    answer(page, "Enter")
    expect(page.locator("[data-answer=different]")).to_be_focused()
    before = page.locator("#view-ask").get_attribute("data-shown") or ""
    page.locator("[data-answer=same]").click()
    expect(page.locator("#view-ask")).not_to_have_attribute("data-shown", before)
    answer(page, "Space")  # is "can't tell" and does not press the button
    answers = [entry.answer for entry in workspace.session.answers("colour")]
    assert answers == ["different", "same", "cannot_tell"]
