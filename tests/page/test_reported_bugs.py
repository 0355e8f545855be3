"""Bugs that a trial in a browser found; each test failed before its bug was fixed.

The others of that trial are tested in `test_gallery` (a picture dragged out of the unsure ones
keeps the place) and `test_groups` (the name of a new group is in view; one undo for three
pictures).
"""

import re

import pytest
from playwright.sync_api import expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.page.actions import add_label_issues, answer, wait_for_pictures
from tests.page.conftest import Open, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_a_double_click_on_show_more_neither_loses_nor_repeats_entries(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    for number in range(70):
        colour.change_group("g1", name=f"name {number}")
    page = open_page(address)
    page.keyboard.press("l")
    more = page.get_by_role("button", name="Show more")
    expect(page.locator(".entries li")).to_have_count(50)
    more.dblclick()
    expect(more).to_be_hidden()
    ids = [one.get_attribute("data-id") for one in page.locator(".entries li").all()]
    assert len(ids) == len(set(ids)) == 70


def test_merged_groups_are_one_button_that_stores_the_group_it_names(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    workspace.session.change_group("colour", "g1", name="sunset")
    colour.queue.fill([Question.choice(i, (0, 1), ("g1", "g2")) for i in (4, 5)])
    page, other = open_page(address), open_page(address)
    names = page.locator(".choices button > span:nth-child(2)")
    expect(names).to_have_text(["sunset", "group 2"])
    other.evaluate(
        """() => fetch("/api/groups/g2", { method: "PATCH", body: '{"merge_into": "g1"}',
        headers: { "Content-Type": "application/json" } })"""
    )
    expect(names).to_have_text(["sunset"])
    answer(page, "1")
    entry = workspace.session.answers("colour")[-1]
    assert workspace.session.groups("colour").name(entry.answer) == "sunset"


def test_a_criterion_that_is_added_in_groups_opens_its_first_question(
    address: str, open_page: Open
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("section[data-group] .tile").first.wait_for()
    page.click("#add-criterion")
    page.keyboard.type("mood")
    page.keyboard.press("Enter")
    expect(page.locator("h1#question")).to_have_text("Same mood?")
    expect(page.locator("#view-ask")).to_be_visible()
    expect(page.locator("#tab-ask")).to_have_attribute("aria-selected", "true")
    answer(page, "s")


def test_pictures_wait_for_the_server_instead_of_being_called_missing(
    session: Session, open_page: Open
) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        page.keyboard.press("g")
        page.locator("section[data-group] .tile").first.wait_for()
        wait_for_pictures(page)
        port = int(re.findall(r":(\d+)/", address)[0])
    expect(page.locator("#problem")).to_contain_text("Connection lost")
    page.locator(".tile:not([hidden]) img").evaluate_all(
        "images => images.forEach((one) => { one.src = one.src.replace('/thumbnail', ''); })"
    )  # not loaded before
    expect(page.locator(".tile:not([hidden]) img.waiting")).not_to_have_count(0)
    expect(page.locator("img.missing")).to_have_count(0)
    assert "missing" not in page.locator("main").inner_text()
    with Workspace(Session.open(path), has_worker=False) as workspace, served(workspace, port):
        expect(page.locator("img.waiting")).to_have_count(0)
        wait_for_pictures(page)
        shown = page.locator(".tile:not([hidden]) img")
        assert shown.evaluate_all("images => images.every((one) => one.naturalWidth > 0)")


def test_no_violated_answers_are_shown_after_everything_was_undone(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 1), (0, 2), (1, 2)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "different")
    trained = {"event": "trained", "criterion": "colour", "n_answers": 3, "n_violations": 2}
    workspace._receive(trained)
    page = open_page(address)
    page.keyboard.press("l")
    violations = page.get_by_label("Answers that the groups do not satisfy")
    expect(violations).to_be_visible()
    for _ in range(3):
        page.keyboard.press("u")
        expect(page.locator("#toasts")).to_contain_text("Undone: different.")
        page.locator("#toasts .close").click()
    expect(page.locator("#counts")).to_contain_text("0 answers")
    expect(violations).to_be_hidden()
    assert workspace.criterion("colour").status.n_violations == 0
    page.keyboard.press("a")
    expect(page.locator(".review, #problem:not([hidden])")).to_have_count(0)


def test_a_picture_with_a_suspected_answer_is_not_an_example_of_its_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    colour.queue.fill([Question.choice(4, (0, 3), ("g1", "g2"))])
    page = open_page(address)
    example = page.locator("[data-answer=g1] .examples img").first
    expect(example).to_have_attribute("alt", "00red.png")
    add_label_issues(workspace, (0, 9))  # the answer of image 0 may be wrong
    page.keyboard.press("g")
    page.keyboard.press("a")
    expect(example).to_have_attribute("alt", "10red.png")
