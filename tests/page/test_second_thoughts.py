"""Second thoughts: what was put off comes again, what fell is brought back; Tab and voices."""

import pytest
from playwright.sync_api import Route, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.page.conftest import Open, intercept
from tests.page.test_page import answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_what_was_put_off_waits_until_there_are_others_or_many_answers(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    numbers = [
        workspace.criterion("colour").answer(Question.pair(0, i), "same").result.id
        for i in (1, 2, 4)
    ]

    def doubt(*doubted: int) -> None:
        suspects = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in doubted]
        news = {"event": "trained", "criterion": "colour", "n_answers": 3, "label_issues": suspects}
        workspace._receive(news)

    page = open_page(address)
    doubt(*numbers[:2])
    again = page.locator(".again")
    again.get_by_role("button", name="Later").click()
    expect(again).to_have_count(0)
    doubt(numbers[1], numbers[2])
    expect(again).to_have_attribute("data-id", str(numbers[2]))
    again.get_by_role("button", name="Later").click()
    for _ in range(19):
        answer(page, "Space")
    expect(again).to_have_count(0)
    answer(page, "Space")
    expect(again).to_have_attribute("data-id", str(numbers[1]))


def test_what_was_taken_back_by_mistake_is_brought_back(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    answer(page, "s")
    page.keyboard.press("l")
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_role("button", name="Take back")).to_be_visible()
    expect(page.locator("#tally")).to_contain_text("1 answer")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["same"]


def test_what_another_person_does_is_seen_at_once(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    line = workspace.criterion("colour").queue
    line.fill([Question.choice(i, (0, 1), ("a", "b")) for i in (2, 4)])
    ann, bob = open_page(address), open_page(address)

    def rename(name: str) -> None:
        bob.evaluate(
            """name => fetch("/api/groups/g1", { method: "PATCH", body: JSON.stringify({ name }),
            headers: { "Content-Type": "application/json" } })""",
            name,
        )

    names = ann.locator(".choices button > span:nth-child(2)")
    expect(names).to_have_text(["group 1", "group 2"])
    rename("dawn")
    expect(names).to_have_text(["dawn", "group 2"])
    for key, place in [("g", ".chips"), ("l", "#view-answers .entries")]:
        ann.keyboard.press(key)
        expect(ann.locator(place)).to_contain_text("dawn")
        rename(f"dawn and {key}")
        expect(ann.locator(place)).to_contain_text(f"dawn and {key}")


def test_groups_that_come_late_do_not_disturb_who_types_a_name(
    address: str, open_page: Open
) -> None:
    page, other, waiting = open_page(address), open_page(address), list[Route]()
    page.keyboard.press("g")
    name = page.locator("[data-focus=name-g1]")
    expect(name).to_have_value("group 1")

    def hold(route: Route) -> None:
        waiting.append(route)

    intercept(page, "**/api/groups?*", hold)
    with page.expect_request("**/api/groups?*"):
        other.evaluate(
            """() => fetch("/api/groups/g2", { method: "PATCH", body: '{"name": "sea"}',
            headers: { "Content-Type": "application/json" } })"""
        )
    name.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("sun")
    with page.expect_response("**/api/groups?*"):
        waiting[0].continue_()
    page.unroute("**/api/groups?*", hold)
    page.wait_for_timeout(200)
    page.keyboard.type("set")
    page.keyboard.press("Enter")
    expect(page.locator(".chips")).to_contain_text("sunset")
    expect(page.locator(".chips")).to_contain_text("sea")


def test_who_reloads_the_page_is_asked_by_the_same_criterion(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.add_criterion("mood", 2)
    page = open_page(address)
    page.locator("#orientation").select_option("mood")
    expect(page.locator("h1")).to_have_text("Same mood?")
    page.reload()
    expect(page.locator("h1")).to_have_text("Same mood?")
    expect(page.locator("#orientation")).to_have_value("mood")
    page.evaluate("sessionStorage.setItem('likewise-by', 'of another session')")
    page.reload()
    expect(page.locator("h1")).to_have_text("Same colour?")


def test_who_goes_by_tab_stays_at_the_answer_and_a_click_leaves_the_keys_free(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    expect(page.locator("#tally")).to_contain_text("0 answers")  # it has settled
    page.keyboard.press("Tab")
    page.locator("[data-answer=different]").focus()
    answer(page, "Enter")
    expect(page.locator("[data-answer=different]")).to_be_focused()
    before = page.locator("#view-ask").get_attribute("data-shown") or ""
    page.locator("[data-answer=same]").click()
    expect(page.locator("#view-ask")).not_to_have_attribute("data-shown", before)
    answer(page, "Space")  # which is "can't tell", and does not press the button again
    said = [entry.answer for entry in workspace.session.answers("colour")]
    assert said == ["different", "same", "cannot_tell"]


def test_the_next_question_is_said_to_those_who_hear_the_page(
    address: str, open_page: Open
) -> None:
    page = open_page(address)
    for _ in range(2):
        names = [image.get_attribute("alt") for image in page.locator(".picture img").all()]
        expect(page.locator("#spoken[role=status]")).to_contain_text("Same colour?")
        for name in names:
            expect(page.locator("#spoken")).to_contain_text(str(name))
        answer(page, "Space")


def test_the_name_of_a_large_picture_has_a_line_of_its_own_on_a_phone(
    address: str, open_page: Open
) -> None:
    page = open_page(address, width=390, height=844)
    page.keyboard.press("z")
    box = page.locator("#dialog-zoom .row span").bounding_box()
    assert box is not None
    assert box["width"] > 300
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 320, "height": 640})  # also that of a page enlarged four times
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
