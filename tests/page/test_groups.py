"""The Groups view: moving, naming and splitting groups."""

import pytest
from playwright.sync_api import Locator, Page, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.page.actions import drag, wait_for_pictures
from tests.page.conftest import Open
from tests.workspace.images import save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def groups_of(page: Page, group: str) -> Locator:
    return page.locator(f"section[data-group={group}] .tile:not([hidden])")


def open_groups(page: Page) -> None:
    page.keyboard.press("g")
    page.locator("section[data-group] .tile").first.wait_for()


def test_pictures_are_dragged_to_another_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    open_groups(page)
    drag(page, "[data-id='0']", "section[data-group=g2]")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text("Moved 1 to group 2")
    page.click("[data-id='2']")
    page.click("[data-id='4']", modifiers=["ControlOrMeta"])
    expect(page.locator("#view-groups .bar")).to_contain_text("2 pictures selected")
    drag(page, "[data-id='2']", ".chip[data-to=g2]")
    expect(groups_of(page, "g2")).to_have_count(9)
    expect(page.locator("#toasts")).to_contain_text("Moved 2 to group 2")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"] * 3
    page.click("#toast-undo")
    expect(groups_of(page, "g2")).to_have_count(7)
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"]


def test_the_digit_of_a_group_moves_the_selection_and_z_undoes_it(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    open_groups(page)
    page.click("[data-id='0']")
    page.keyboard.press("2")
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.locator("#toasts")).to_contain_text("Undone: group 2.")
    expect(page.locator("section[data-group=g1] [data-id='0']")).to_be_visible()
    assert workspace.session.answers("colour") == []


def test_a_move_replaces_older_answers_and_one_undo_restores_them(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair, word in [((0, 2), "same"), ((0, 1), "different"), ((1, 3), "same")]:
        workspace.criterion("colour").answer(Question.pair(*pair), word)
    page = open_page(address)
    open_groups(page)
    page.click("[data-id='2']")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-group=g2] [data-id='2']")).to_be_visible()
    assert workspace.criterion("colour").review.conflicts() == []
    answers = [entry.answer for entry in workspace.session.answers("colour")]
    assert answers == ["different", "same", "g2"]
    page.click("#toast-undo")
    expect(page.locator("section[data-group=g1] [data-id='2']")).to_be_visible()
    answers = [entry.answer for entry in workspace.session.answers("colour")]
    assert answers == ["same", "different", "same"]


def test_selected_pictures_become_a_new_group_whose_name_is_typed_and_one_undo_removes_it(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address, height=500)  # the new group is below the visible part
    open_groups(page)
    page.click("[data-id='0']")
    for number in (2, 4):
        page.click(f"[data-id='{number}']", modifiers=["ControlOrMeta"])
    page.keyboard.press("n")
    expect(groups_of(page, "g3")).to_have_count(3)
    name = page.locator("[data-focus=name-g3]")
    expect(name).to_be_focused()
    expect(name).to_be_in_viewport(ratio=1)
    page.keyboard.type("dusk")  # replaces the selected name
    page.keyboard.press("Enter")
    expect(page.locator("section[aria-label=dusk]")).to_be_visible()
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g3"] * 3
    page.keyboard.press("u")  # the name
    expect(page.locator("#toasts")).to_contain_text("renamed")
    page.keyboard.press("u")
    expect(page.locator("section[data-group=g3]")).to_have_count(0)
    assert workspace.session.answers("colour") == []


def test_newer_groups_wait_while_a_picture_is_dragged(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    open_groups(page)
    wait_for_pictures(page)
    taken = page.locator("[data-id='0']")
    taken.hover()
    held = taken.element_handle()
    page.mouse.down()
    page.locator(".chip[data-to=g2]").hover()  # on its way
    with page.expect_response("**/api/status*"):
        workspace.criterion("colour").answer(Question.choice(1, (10, 11), ("g1", "g2")), "g2")
    page.wait_for_timeout(1_500)  # longer than the newer groups take
    assert held.evaluate("tile => tile.isConnected && tile.dataset.id === '0'")
    page.locator(".chip[data-to=g2]").hover()
    page.mouse.up()
    expect(page.locator("section[data-group=g2] [data-id='0']")).to_be_visible()
    expect(page.locator("section[data-group=g2] [data-id='1'] .placed")).to_be_visible()


def test_newer_groups_wait_while_pictures_are_selected(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    open_groups(page)
    page.locator("[data-id='0']").click()
    trained = {"event": "trained", "criterion": "colour", "n_answers": 5, "n_moved": 2}
    save_half_results(workspace.session, n_answers=5)
    workspace._receive(trained)
    expect(page.locator("#renew")).to_be_visible()
    expect(page.locator("#view-groups .bar")).to_contain_text("1 picture selected")
    page.locator("#renew").click()
    expect(page.locator("#renew")).to_have_count(0)
    workspace.session.change_group("colour", "g1", name="sunset")
    workspace._receive(trained)
    expect(page.locator("section[aria-label=sunset]")).to_be_visible()


def test_groups_are_merged_and_the_merge_is_undone(address: str, open_page: Open) -> None:
    page = open_page(address)
    open_groups(page)
    merge = page.get_by_label("Merge group 2 into")
    merge.focus()
    merge.select_option("g1")
    expect(page.locator("section[data-group]")).to_have_count(1)
    expect(groups_of(page, "g1")).to_have_count(12)
    page.click("#toast-undo")
    expect(groups_of(page, "g2")).to_have_count(6)


def test_a_name_is_saved_by_enter_discarded_by_escape_and_never_blank(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    open_groups(page)
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


def test_a_name_that_is_being_typed_is_kept_when_newer_groups_are_shown(
    address: str, open_page: Open
) -> None:
    page, other = open_page(address), open_page(address)
    open_groups(page)
    name = page.locator("[data-focus=name-g1]")
    expect(name).to_have_value("group 1")
    name.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("sun")
    other.evaluate(
        """() => fetch("/api/groups/g2", { method: "PATCH", body: '{"name": "sea"}',
        headers: { "Content-Type": "application/json" } })"""
    )
    expect(page.locator(".chips")).to_contain_text("sea")
    page.keyboard.type("set")
    page.keyboard.press("Enter")
    expect(page.locator(".chips")).to_contain_text("sunset")
    expect(page.locator(".chips")).to_contain_text("sea")


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "🌅🏖️ été", "long " * 20])
def test_any_name_is_shown_unchanged(
    address: str, open_page: Open, workspace: Workspace, name: str
) -> None:
    page = open_page(address)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    open_groups(page)
    field = page.locator("[data-focus=name-g1]")
    field.fill(name)
    field.press("Enter")
    wanted = name.strip()
    expect(page.locator(".chip[data-to=g1] .name")).to_have_text(wanted)
    assert workspace.session.groups("colour").name("g1") == wanted
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_a_name_of_500_characters_is_refused_with_a_message(address: str, open_page: Open) -> None:
    page = open_page(address)
    open_groups(page)
    field = page.locator("[data-focus=name-g1]")
    field.evaluate("(field) => { field.maxLength = 1000; field.value = 'x'.repeat(500); }")
    field.dispatch_event("change")
    expect(page.locator("#problem")).to_contain_text("200")
    expect(page.locator(".chip[data-to=g1] .name")).to_have_text("group 1")
