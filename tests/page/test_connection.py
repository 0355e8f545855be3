"""Other clients, lost connections, restarts and problems of the session."""

import re

import pytest
from playwright.sync_api import Route, expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.worker import WorkerEnd
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer, intercept
from tests.page.conftest import Open, served
from tests.workspace.images import save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_two_browsers_get_different_questions_and_each_others_counts(
    address: str, open_page: Open
) -> None:
    one, other = open_page(address), open_page(address)
    seen = [
        {image.get_attribute("alt") for image in page.locator(".picture img").all()}
        for page in (one, other)
    ]
    assert seen[0] != seen[1]
    answer(one, "Space")
    expect(other.locator("#counts")).to_contain_text("1 answer")


def test_updated_groups_are_announced(address: str, open_page: Open, workspace: Workspace) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    save_half_results(workspace.session, n_answers=5)
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 5, "n_moved": 2})
    expect(page.locator("#activity")).to_have_text("Groups updated, 2 pictures moved")


def test_a_stopped_server_is_reported(session: Session, open_page: Open) -> None:
    with Workspace(session, has_worker=False) as workspace:
        with served(workspace) as address:
            page = open_page(address)
        page.keyboard.press("s")
        expect(page.locator("#problem")).to_contain_text("start it again")
        expect(page.locator("#problem")).to_be_visible()
        assert workspace.session.answers("colour") == []


def test_a_reconnected_browser_keeps_its_question_and_the_stored_answers(
    session: Session, open_page: Open
) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        answer(page, "s")
        port = int(re.findall(r":(\d+)/", address)[0])
    expect(page.locator("#problem")).to_contain_text("Connection lost")
    held: list[Route] = []
    intercept(page, "**/api/questions*", lambda route: _hold(route, held))
    with Workspace(Session.open(path), has_worker=False) as workspace, served(workspace, port):
        expect(page.locator("#problem")).to_be_hidden(timeout=20_000)
        expect(page.locator("#counts")).to_contain_text("1 answer")
        page.keyboard.press("d")  # answers the question on the screen
        expect(page.locator("#counts")).to_contain_text("2 answers")
        answers = [entry.answer for entry in workspace.session.answers("colour")]
        assert answers == ["same", "different"]
        for route in held:
            route.continue_()


def _hold(route: Route, held: list[Route]) -> None:
    """Delay the request of new questions."""
    held.append(route)


def test_an_upgrade_of_the_program_asks_to_reload_the_page(address: str, open_page: Open) -> None:
    page = open_page(address)
    expect(page.locator("#counts")).to_contain_text("0 answers")

    def upgraded(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "version": "99.0"})

    intercept(page, "**/api/status*", upgraded)
    answer(page, "s")
    expect(page.locator("#problem")).to_contain_text("The program was upgraded; reload this page")


def test_a_problem_of_the_session_is_shown_until_it_is_solved(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    expect(page.locator("#counts")).to_contain_text("0 answers")
    workspace._receive({"event": "problem", "criterion": "colour", "message": "Not enough memory."})
    expect(page.locator("#problem")).to_have_text("Not enough memory.")
    answer(page, "s")  # succeeds; the problem stays
    expect(page.locator("#counts")).to_contain_text("1 answer")
    expect(page.locator("#problem")).to_have_text("Not enough memory.")
    page.wait_for_timeout(700)  # the event of that answer has been handled
    ask = page.locator("#view-ask")
    n_shown = ask.get_attribute("data-shown") or ""
    page.keyboard.press("g")
    page.keyboard.press("a")  # requests questions, not the status
    expect(ask).not_to_have_attribute("data-shown", n_shown)
    expect(page.locator("#problem")).to_have_text("Not enough memory.")
    workspace._receive({"event": "ready"})
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 1})
    expect(page.locator("#problem")).to_be_hidden()


def test_the_end_of_the_training_process_is_shown_with_what_to_do(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    expect(page.locator("#counts")).to_contain_text("0 answers")
    workspace._receive(WorkerEnd("MemoryError", was_ready=True).message(4))
    problem = page.locator("#problem")
    expect(problem).to_contain_text("ended (MemoryError) and is restarted in 4 s")
    expect(problem).to_contain_text("close other programs")
    workspace._receive({"event": "ready"})
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 1})
    expect(problem).to_be_hidden()


def test_changes_by_another_person_are_shown(
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
