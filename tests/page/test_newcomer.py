"""What annoyed somebody who used the page for the first time, and does no longer."""

import re

import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.page.conftest import Open, drag, served, wait_for_pictures
from tests.page.test_page import answer
from tests.workspace.images import save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


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


def test_none_of_these_is_offered_as_a_group_at_once(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    line = workspace.criterion("colour").queue
    line.fill([Question.choice(i, (0, 1), ("a", "b")) for i in (2, 4, 6)])
    page = open_page(address)
    answer(page, "0")
    expect_groups(page, "group 1", "group 2", "like this")
    answer(page, "3")
    assert workspace.session.graph("colour").relation(2, 4).name == "SAME"


def test_a_closer_look_goes_on_to_the_groups(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill([Question.choice(2, (0, 1), ("a", "b"))])
    page = open_page(address)
    page.keyboard.press("z")
    dialog = page.locator("#dialog-zoom")
    expect(dialog.locator("span")).to_have_text("02red.png")
    page.keyboard.press("ArrowRight")
    expect(dialog.locator("span")).to_have_text("group 1: 00red.png")


def test_ctrl_z_undoes_a_move_though_a_picture_has_the_focus(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-key=g2] [data-id='0']")).to_be_visible()
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("Control+z")
    expect(page.locator("#news")).to_have_text("Taken back: group 2.")
    expect(page.locator("section[data-key=g1] [data-id='0']")).to_be_visible()
    expect(page.locator("#dialog-zoom")).to_be_hidden()
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("z")
    expect(page.locator("#dialog-zoom")).to_be_visible()


def test_pictures_are_dropped_on_the_name_of_a_group_without_scrolling(
    address: str, open_page: Open
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    drag(page, "[data-id='0']", ".chip[data-to=g2]")
    expect(page.locator("section[data-key=g2] [data-id='0']")).to_be_visible()
    expect(page.locator(".chip[data-to=g2]")).to_contain_text("7")


def test_newer_groups_do_not_take_a_picture_out_of_the_hand(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("section[data-key=g2]").wait_for()
    wait_for_pictures(page)
    taken = page.locator("[data-id='0']").first
    taken.hover()
    held = taken.element_handle()
    page.mouse.down()
    page.locator(".chip[data-to=g2]").hover()  # on its way
    with page.expect_response("**/api/status*"):
        workspace.criterion("colour").answer(Question.pair(1, 3), "same")  # as somebody else may
    page.wait_for_timeout(1_500)  # the newer groups would be here by now
    assert held.evaluate("tile => tile.isConnected")
    page.locator(".chip[data-to=g2]").hover()
    page.mouse.up()
    expect(page.locator("section[data-key=g2] [data-id='0']")).to_be_visible()
    expect(page.locator("section[data-key=g2] [data-id='1'] .answered")).to_be_visible()


def test_a_picture_that_answers_hold_in_its_place_is_said_to_stay(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair, word in [((0, 2), "same"), ((0, 1), "different"), ((1, 3), "same")]:
        workspace.criterion("colour").answer(Question.pair(*pair), word)
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator(".stayed")).to_contain_text("1 picture stayed")
    page.locator("#settle-it").click()
    expect(page.locator(".settle")).to_contain_text("These answers cannot all be right")
    page.locator(".settle li", has_text="set aside").get_by_role("button").click()
    expect(page.locator(".settle")).to_have_count(0)
    page.keyboard.press("g")
    expect(page.locator("section[data-key=g1]")).to_be_visible()
    expect(page.locator(".stayed")).to_have_count(0)


def test_new_groups_wait_while_pictures_are_chosen(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.click()
    trained = {"event": "trained", "criterion": "colour", "n_answers": 5, "n_moved": 2}
    save_half_results(workspace.session, n_answers=5)
    workspace._receive(trained)
    expect(page.locator("#renew")).to_be_visible()
    expect(page.locator("#view-groups .bar")).to_contain_text("1 picture chosen")
    page.locator("#renew").click()
    expect(page.locator("#renew")).to_have_count(0)
    page.locator("[data-id='2']").first.focus()  # to look at one is not to be at work
    workspace.session.change_group("colour", "g1", name="sunset")
    workspace._receive(trained)
    expect(page.locator("section[aria-label=sunset]")).to_be_visible()


def test_a_standing_trouble_is_shown_until_it_is_over(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    expect(page.locator("#tally")).to_contain_text("0 answers")
    workspace._receive(
        {"event": "trouble", "criterion": "colour", "message": "There is no memory."}
    )
    expect(page.locator("#trouble")).to_have_text("There is no memory.")
    answer(page, "s")  # which goes well, and ends nothing
    expect(page.locator("#tally")).to_contain_text("1 answer")
    expect(page.locator("#trouble")).to_have_text("There is no memory.")
    page.wait_for_timeout(700)  # the news of that answer is over, and the status not asked again
    ask = page.locator("#view-ask")
    n_shown = ask.get_attribute("data-shown") or ""
    page.keyboard.press("g")
    page.keyboard.press("a")  # which fetches questions, and asks for no news
    expect(ask).not_to_have_attribute("data-shown", n_shown)
    expect(page.locator("#trouble")).to_have_text("There is no memory.")
    workspace._receive({"event": "ready"})
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 1})
    expect(page.locator("#trouble")).to_be_hidden()


def test_none_of_all_groups_may_become_one_more(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    asked = Question.choice(2, (0, 1), ("g1", "g2"))
    number = workspace.criterion("colour").answer(asked, "none").result.id
    page = open_page(address)
    suspects = [{"answer": number, "image": 2, "probability": 0.99, "evidence": [number]}]
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": 1, "label_issues": suspects}
    )
    again = page.locator(".again")
    expect(again).to_contain_text("is there one more group?")
    again.get_by_role("button", name="Make it a new group").click()
    expect(page.locator(".settled")).to_contain_text("A new group was made")
    assert workspace.criterion("colour").status.gallery().members["g3"].tolist() == [2]
    assert workspace.session.criterion("colour").n_clusters == 3


def test_the_second_contradiction_is_shown_when_the_first_is_left(
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
        expect(page.locator(".settle li", has_text="set aside")).to_have_attribute(
            "data-id", str(number)
        )
        page.get_by_role("button", name="Leave it as it is").click()
    expect(page.locator(".settle")).to_have_count(0)


def test_a_point_of_the_map_has_a_name_and_can_be_moved(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    from likewise.workspace.map2d import save_map

    where = workspace.session.images.askable
    places = (10_000 * (where[:, None] % 2 + [[0, 0]])).clip(2_000, 8_000).astype("uint16")
    save_map(workspace.session, "colour", where[:2], places[:2])
    page = open_page(address)
    page.keyboard.press("m")
    canvas = page.locator("canvas[data-ms]")
    box = canvas.bounding_box()
    assert box is not None
    side = min(box["width"], box["height"]) * 0.94
    page.mouse.click(
        box["x"] + box["width"] / 2 - 0.3 * side, box["y"] + box["height"] / 2 - 0.3 * side
    )
    card = page.locator("#view-map .card")
    expect(card).to_contain_text(re.compile(r"group 1 · 55 % sure\s*00red.png"))
    card.get_by_label("Move this picture to").select_option("g2")
    expect(card).to_contain_text("group 2 · you spoke of it")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"]


def test_what_the_outlook_says_can_be_read_to_its_end(session: Session, open_page: Open) -> None:
    with Workspace(session, has_worker=False) as workspace:
        for i in range(4):
            workspace.criterion("colour").answer(Question.choice(i + 2, (0, 1), ("g1", "g2")), "g1")
        workspace.criterion("colour").status.n_violations = 2
        with served(workspace) as address:
            page = open_page(address, width=1100)  # one line beside the tally is too short
            outlook = page.locator("#agreement")
            expect(outlook).to_contain_text("overrule the model")
            assert outlook.evaluate("e => e.scrollWidth <= e.clientWidth")
            page.keyboard.press("l")
            page.set_viewport_size({"width": 390, "height": 780})
            about = page.locator(".entries .about").first
            expect(about).to_be_visible()
            box = about.bounding_box()
            assert box is not None
            assert box["width"] > 150  # words, not one letter a line
