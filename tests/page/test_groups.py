"""The Groups view: moving, naming and splitting groups."""

import pytest
from playwright.sync_api import Route, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.page.actions import drag, intercept, wait_for_pictures
from tests.page.conftest import Open
from tests.workspace.images import save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_pictures_are_dragged_to_another_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#tab-groups")
    drag(page, "[data-id='0']", "section[data-group=g2]")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    page.click("[data-id='2']")
    page.click("[data-id='4']")
    expect(page.locator("#view-groups .bar")).to_contain_text("2 pictures selected")
    drag(page, "[data-id='2']", "section[data-group=g2]")
    expect(page.locator("section[data-group=g2] .tile")).to_have_count(9)
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"] * 3


def test_pictures_are_moved_with_the_keyboard(address: str, open_page: Open) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()


def test_selected_pictures_become_a_new_group_whose_name_is_typed_next(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    for number in (0, 2):
        page.locator(f"[data-id='{number}']").first.focus()
        page.keyboard.press("Enter")
    page.locator("#new-group").focus()
    page.keyboard.press("Enter")
    expect(page.locator("section[data-group=g3] .tile")).to_have_count(2)
    page.keyboard.type("dusk")  # replaces the selected name
    page.keyboard.press("Enter")
    expect(page.locator("section[aria-label=dusk]")).to_be_visible()
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g3", "g3"]


def test_ctrl_z_undoes_a_move_while_a_picture_has_the_focus(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#activity")).to_have_text("Undone: group 2.")
    expect(page.locator("section[data-group=g1] [data-id='0']")).to_be_visible()
    expect(page.locator("#dialog-zoom")).to_be_hidden()
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("z")
    expect(page.locator("#dialog-zoom")).to_be_visible()


def test_pictures_are_dropped_on_the_name_of_a_group(address: str, open_page: Open) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    drag(page, "[data-id='0']", ".chip[data-to=g2]")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    expect(page.locator(".chip[data-to=g2]")).to_contain_text("7")


def test_newer_groups_wait_while_a_picture_is_dragged(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("section[data-group=g2]").wait_for()
    wait_for_pictures(page)
    taken = page.locator("[data-id='0']").first
    taken.hover()
    held = taken.element_handle()
    page.mouse.down()
    page.locator(".chip[data-to=g2]").hover()  # on its way
    with page.expect_response("**/api/status*"):
        workspace.criterion("colour").answer(Question.pair(1, 3), "same")  # another client
    page.wait_for_timeout(1_500)  # longer than the newer groups take
    assert held.evaluate("tile => tile.isConnected")
    page.locator(".chip[data-to=g2]").hover()
    page.mouse.up()
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    expect(page.locator("section[data-group=g2] [data-id='1'] .answered")).to_be_visible()


def test_a_move_that_contradicts_answers_is_reported(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair, word in [((0, 2), "same"), ((0, 1), "different"), ((1, 3), "same")]:
        workspace.criterion("colour").answer(Question.pair(*pair), word)
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator(".not-moved")).to_contain_text("1 picture not moved")
    page.locator("#review").click()
    expect(page.locator(".review")).to_contain_text("These answers contradict each other")
    page.locator(".review li", has_text="not used").get_by_role("button").click()
    expect(page.locator(".review")).to_have_count(0)
    page.keyboard.press("g")
    expect(page.locator("section[data-group=g1]")).to_be_visible()
    expect(page.locator(".not-moved")).to_have_count(0)


def test_newer_groups_wait_while_pictures_are_selected(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.click()
    trained = {"event": "trained", "criterion": "colour", "n_answers": 5, "n_moved": 2}
    save_half_results(workspace.session, n_answers=5)
    workspace._receive(trained)
    expect(page.locator("#renew")).to_be_visible()
    expect(page.locator("#view-groups .bar")).to_contain_text("1 picture selected")
    page.locator("#renew").click()
    expect(page.locator("#renew")).to_have_count(0)
    page.locator("[data-id='2']").first.focus()  # to look at one is not to be at work
    workspace.session.change_group("colour", "g1", name="sunset")
    workspace._receive(trained)
    expect(page.locator("section[aria-label=sunset]")).to_be_visible()


def test_a_name_is_saved_by_enter_discarded_by_escape_and_never_blank(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    name = page.locator("[data-focus=name-g1]")

    def write(text: str, last: str) -> None:
        name.focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        page.keyboard.press(last)

    write("vehicles", "Enter")
    expect(page.locator("section[aria-label=vehicles]")).to_be_visible()
    expect(name).not_to_be_focused()
    write("ships", "Escape")
    expect(name).not_to_be_focused()
    expect(name).to_have_value("vehicles")
    write("   ", "Enter")
    assert name.input_value() == "vehicles"  # without waiting for newer groups
    page.keyboard.press("a")
    expect(page.locator("#view-ask")).to_be_visible()
    assert workspace.session.groups("colour").name("g1") == "vehicles"
    kinds = [entry.kind for entry, _ in workspace.session.entries("colour")]
    assert kinds == ["rename"]


def test_newer_groups_wait_while_a_name_is_typed(address: str, open_page: Open) -> None:
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
