"""Conflicts and label issues above the question."""

import pytest
from playwright.sync_api import expect

from likewise.constraints.question import Question, Relation
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer, intercept
from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_a_conflict_is_resolved_by_retracting_an_answer(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    page = open_page(address)
    workspace.criterion("colour").answer(Question.pair(0, 4), "different")  # by another client
    review = page.locator(".review")
    expect(review).to_contain_text("These answers contradict each other")
    expect(review.locator("li")).to_have_count(3)
    review.locator("li", has_text="not used").get_by_role("button").click()
    expect(review).to_have_count(0)
    assert workspace.criterion("colour").review.conflicts() == []
    assert len(workspace.session.answers("colour")) == 2
    page.click("#toast-undo")
    expect(review.locator("li")).to_have_count(3)


def test_a_label_issue_is_retracted_or_confirmed(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    numbers = [
        workspace.criterion("colour").answer(Question.pair(0, other), "same").result.id
        for other in (1, 2, 4)
    ]
    issues = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in numbers[:2]]
    page = open_page(address)
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": 3, "label_issues": issues}
    )
    again = page.locator(".label-issue")
    expect(again).to_contain_text("Check again: you answered “same”")
    again.get_by_role("button", name="Retract").click()
    expect(again).to_have_attribute("data-id", str(numbers[1]))
    again.get_by_role("button", name="It is correct").click()
    expect(again).to_have_count(0)
    assert [entry.id for entry in workspace.session.answers("colour")] == numbers[1:]
    assert workspace.session.confirmed("colour") == {numbers[1]: (0,)}
    page.keyboard.press("u")
    expect(again).to_have_attribute("data-id", str(numbers[1]))
    assert workspace.session.confirmed("colour") == {}


def test_the_suspected_answer_of_a_conflict_is_marked(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 10), (10, 11)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    workspace.criterion("colour").answer(Question.pair(0, 11), "different")
    page = open_page(address)
    expect(page.locator(".review li.suspected")).to_have_attribute("data-id", "2")
    expect(page.locator(".review button.first")).to_have_count(1)


def test_a_label_issue_with_none_of_the_groups_can_become_a_new_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    asked = Question.choice(2, (0, 1), ("g1", "g2"))
    number = workspace.criterion("colour").answer(asked, "none").result.id
    page = open_page(address)
    issues = [{"answer": number, "image": 2, "probability": 0.99, "evidence": [number]}]
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": 1, "label_issues": issues}
    )
    again = page.locator(".label-issue")
    expect(again).to_contain_text("is there one more group?")
    again.get_by_role("button", name="New group").click()
    expect(page.locator("#toasts")).to_contain_text("New group created")
    assert workspace.criterion("colour").status.gallery().members["g3"].tolist() == [2]
    assert workspace.session.criterion("colour").n_clusters == 3
    page.click("#toast-undo")
    expect(page.locator("#toasts")).to_contain_text("Undone")
    assert workspace.session.criterion("colour").n_clusters == 2


def test_one_tick_of_a_grid_is_corrected_and_its_other_answers_stay(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    grid = Question.grid((2, 4, 6, 8), 0, "g1")
    number = colour.answer(grid, "ticked", ticked=[4]).result.id
    page = open_page(address)
    issues = [{"answer": number, "image": 4, "probability": 0.9, "evidence": [number]}]
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": 1, "label_issues": issues}
    )
    again = page.locator(".label-issue")
    expect(again).to_contain_text("you answered “not group 1”")
    shown = again.locator("img").evaluate_all("all => all.map((one) => one.alt)")
    assert shown == ["04red.png", "00red.png"]
    again.get_by_role("button", name="It is wrong").click()
    expect(page.locator("#toasts")).to_contain_text("Placed in group 1")
    graph = workspace.session.graph("colour")
    assert [answer.ticked for answer in graph.answers.values()] == [()]
    assert graph.relation(4, 6) is Relation.SAME
    page.click("#toast-undo")
    expect(page.locator("#toasts")).to_contain_text("Undone")
    assert [one.ticked for one in workspace.session.graph("colour").answers.values()] == [(4,)]


def test_the_next_conflict_is_shown_when_one_is_ignored(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4), (1, 3), (3, 5)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    ids = [
        workspace.criterion("colour").answer(Question.pair(*pair), "different").result.id
        for pair in [(0, 4), (1, 5)]
    ]
    page = open_page(address)
    for number in reversed(ids):
        expect(page.locator(".review li", has_text="not used")).to_have_attribute(
            "data-id", str(number)
        )
        page.get_by_role("button", name="Leave as is").click()
    expect(page.locator(".review")).to_have_count(0)


def test_an_ignored_conflict_is_not_shown_again(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    page = open_page(address)
    contradiction = {
        "kind": "pair",
        "images": [0, 4],
        "groups": [],
        "names": ["", ""],
        "offered": [],
    }
    reply = {"criterion": "colour", "questions": [contradiction]}
    intercept(page, "**/api/questions*", lambda route: route.fulfill(json=reply), times=1)
    with page.expect_response("**/api/questions*"):
        page.keyboard.press("a")
    expect(page.locator(".picture img")).to_have_count(2)
    answer(page, "d")
    expect(page.locator(".note")).to_contain_text("please review them above")
    fits = page.locator(".review img").evaluate_all("all => all.map(e => getComputedStyle(e))")
    assert {one["objectFit"] for one in fits} == {"contain"}
    page.get_by_role("button", name="Leave as is").click()
    expect(page.locator(".review")).to_have_count(0)
    expect(page.locator(".note")).to_be_empty()
    page.reload()
    page.wait_for_selector("#view-ask h1")
    page.wait_for_timeout(500)  # longer than the next status takes
    expect(page.locator(".review")).to_have_count(0)


def test_a_postponed_label_issue_returns_after_20_answers(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    numbers = [
        workspace.criterion("colour").answer(Question.pair(0, i), "same").result.id
        for i in (1, 2, 4)
    ]

    def add_issues(*ids: int) -> None:
        issues = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in ids]
        message = {
            "event": "trained",
            "criterion": "colour",
            "n_answers": 3,
            "label_issues": issues,
        }
        workspace._receive(message)

    page = open_page(address)
    add_issues(*numbers[:2])
    again = page.locator(".label-issue")
    again.get_by_role("button", name="Later").click()
    expect(again).to_have_count(0)
    add_issues(numbers[1], numbers[2])
    expect(again).to_have_attribute("data-id", str(numbers[2]))
    again.get_by_role("button", name="Later").click()
    for _ in range(19):
        answer(page, "Space")
    expect(again).to_have_count(0)
    answer(page, "Space")
    expect(again).to_have_attribute("data-id", str(numbers[1]))
