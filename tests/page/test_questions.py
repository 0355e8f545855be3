"""The Ask view: the question, its keys, notes, and undo."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session, save_results
from likewise.workspace.workspace import Workspace
from tests.page.actions import add_label_issues, answer, answer_all
from tests.page.conftest import Open, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_a_question_names_the_criterion_and_shows_both_pictures(
    address: str, open_page: Open
) -> None:
    page = open_page(address)
    expect(page.locator("h1")).to_have_text("Same colour?")
    assert page.locator(".picture img").count() == 2
    for image in page.locator(".picture img").all():
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") == 64
        assert image.get_attribute("alt")
    assert "token" not in page.url


def test_a_choice_is_answered_by_digits_and_keys(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    queue = workspace.criterion("colour").queue
    questions = [Question.choice(i, (0, 1), ("g1", "g2")) for i in (2, 3, 4, 5)]
    queue.fill([*questions, Question.pair(6, 7)])
    page = open_page(address)
    expect(page.locator("h1")).to_have_text("Which colour?")
    for key in ("1", "2", "Space", "x"):
        answer(page, key)
    answers = [entry.answer for entry in workspace.session.answers("colour")]
    assert answers == ["g1", "g2", "cannot_tell", "bad_image"]


def test_a_group_keeps_its_digit_when_another_is_not_offered(
    session: Session, open_page: Open
) -> None:
    session.add_criterion("mood", 3)
    chances = np.eye(3, dtype=np.float32)[np.arange(12) % 3] * 0.7 + 0.1
    save_results(session, "mood", chances, keys=("g1", "g2", "g3"), n_answers=0)
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        questions = [Question.choice(6, (1, 2), ("g2", "g3")), Question.pair(7, 8)]
        workspace.criterion("mood").queue.fill(questions)
        page = open_page(address)
        page.select_option("#criterion", "mood")
        expect(page.locator(".choices kbd")).to_have_text(["2", "3"])
        page.keyboard.press("1")  # no group has this digit here
        answer(page, "3")
        assert [entry.answer for entry in workspace.session.answers("mood")] == ["g3"]


def test_the_question_is_worded_by_the_kind_of_criterion(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.add_criterion("what it shows", 2)
    workspace.criterion("what it shows").queue.fill([Question.choice(5, (0, 1), ("g1", "g2"))])
    page = open_page(address)
    page.select_option("#criterion", "what it shows")
    expect(page.locator("h1")).to_have_text("Which group: what it shows?")


def test_undo_works_after_a_restart(session: Session, open_page: Open) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        answer_all(page, 3)
    with Workspace(Session.open(path), has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        expect(page.locator("#counts")).to_contain_text("3 answers")
        for left in ("2 answers", "1 answer", "0 answers"):
            page.keyboard.press("Control+z" if left == "1 answer" else "u")
            expect(page.locator("#counts b")).to_have_text(left)
        page.keyboard.press("u")
        expect(page.locator(".note")).to_have_text("Nothing to undo.")


def expect_groups(page: Page, *names: str) -> None:
    expect(page.locator(".choices button > span:nth-child(2)")).to_have_text(list(names))


def test_a_group_has_the_same_key_in_every_question(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    line = workspace.criterion("colour").queue
    line.fill([Question.choice(2, (0, 1), ("a", "b")), Question.choice(4, (1, 0), ("b", "a"))])
    page = open_page(address)
    for _ in range(2):
        expect_groups(page, "group 1", "group 2")
        answer(page, "1")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g1", "g1"]


def test_none_of_these_is_offered_as_a_group_in_the_next_question(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    line = workspace.criterion("colour").queue
    line.fill([Question.choice(i, (0, 1), ("a", "b")) for i in (2, 4, 6)])
    page = open_page(address)
    answer(page, "0")
    expect_groups(page, "group 1", "group 2", "like this")
    answer(page, "3")
    assert workspace.session.graph("colour").relation(2, 4).name == "SAME"


def test_zoom_shows_the_offered_groups_too(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill([Question.choice(2, (0, 1), ("a", "b"))])
    page = open_page(address)
    page.keyboard.press("z")
    dialog = page.locator("#dialog-zoom")
    expect(dialog.locator("span")).to_have_text("02red.png")
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("span")).to_have_text("group 1: 00red.png")


def test_a_note_is_removed_when_another_view_is_opened(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    note = page.locator("#view-ask .note")
    add_label_issues(workspace, (0, 1))
    page.locator(".label-issue").get_by_role("button", name="It is correct").click()
    expect(page.locator("#toasts")).to_contain_text("Marked as correct")
    page.keyboard.press("g")
    page.locator("[data-id='2']").first.click()
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-group=g2] [data-id='2']")).to_be_visible()
    page.keyboard.press("a")
    expect(note).to_be_empty()
    page.keyboard.press("u")
    expect(note).to_have_text("Undone: group 2.")
    page.keyboard.press("m")
    page.keyboard.press("a")
    expect(note).to_be_empty()


def test_questions_are_announced_to_screen_readers(address: str, open_page: Open) -> None:
    page = open_page(address)
    for _ in range(2):
        names = [image.get_attribute("alt") for image in page.locator(".picture img").all()]
        expect(page.locator("#announcer[role=status]")).to_contain_text("Same colour?")
        for name in names:
            expect(page.locator("#announcer")).to_contain_text(str(name))
        answer(page, "Space")
