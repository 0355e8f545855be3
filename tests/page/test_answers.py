"""The Answers view: the log, retraction and violated answers."""

import pytest
from playwright.sync_api import expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer
from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_an_answer_is_found_and_retracted(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for other in (2, 4, 1):
        word = "different" if other == 1 else "same"
        workspace.criterion("colour").answer(Question.pair(0, other), word, who="ada")
    page = open_page(address)
    page.keyboard.press("l")
    page.get_by_role("searchbox").fill("04red")
    expect(page.locator(".entries li")).to_have_count(1)
    page.get_by_role("button", name="Retract").click()
    expect(page.locator(".entries")).to_contain_text("retracted")
    assert [entry.id for entry in workspace.session.answers("colour")] == [1, 3]


def test_violated_answers_are_listed(address: str, open_page: Open, workspace: Workspace) -> None:
    for pair in [(0, 1), (0, 2), (1, 2)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "different")
    page = open_page(address)
    page.keyboard.press("l")
    without_place = page.get_by_label("Answers that the groups do not satisfy")
    expect(without_place).to_be_visible()
    expect(without_place).to_contain_text("1 answer")


def test_the_view_and_the_footer_count_the_same_answers(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    for key in ("s", "Space", "d"):
        answer(page, key)
    page.keyboard.press("u")
    expect(page.locator(".note")).to_have_text("Undone: different.")
    workspace.session.change_group("colour", "g1", name="sunset")
    expect(page.locator("#counts b")).to_have_text("2 answers")
    page.keyboard.press("l")
    expect(page.locator("#view-answers .bar p")).to_have_text(
        "2 answers, 1 retracted, 1 other change"
    )
    expect(page.locator(".entries li")).to_have_count(4)
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("#view-answers .bar p")).to_have_text("3 answers, 1 other change")
    expect(page.locator("#counts b")).to_have_text("3 answers")


def test_a_retracted_answer_is_restored(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    answer(page, "s")
    page.keyboard.press("l")
    page.get_by_role("button", name="Retract").click()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("button", name="Retract")).to_be_visible()
    page.click("#toast-undo")  # of the restoration, then of that
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    page.click("#toast-undo")
    expect(page.get_by_role("button", name="Retract")).to_be_visible()
    expect(page.locator("#counts")).to_contain_text("1 answer")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["same"]
