"""New groups and names beside the question, groups found by name, grid questions and the figure."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session, save_results
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer, intercept
from tests.page.conftest import Open, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def choices(*images: int) -> list[Question]:
    return [Question.choice(i, (0, 1), ("a", "b")) for i in images]


def test_a_new_group_is_made_and_named_from_a_choice(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill(choices(4, 5, 6))
    page = open_page(address)
    expect(page.locator("h1")).to_have_text("Which colour?")
    page.keyboard.press("n")
    page.keyboard.type("violet s")  # an S answers nothing while a name is typed
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("New group")
    names = [one.name for one in workspace.session.groups("colour").shown()]
    assert names == ["group 1", "group 2", "violet s"]
    offered = page.locator(".choices button > span:nth-child(2)")
    expect(offered).to_have_text(["group 1", "group 2", "violet s"])
    answer(page, "3")
    assert workspace.session.graph("colour").relation(4, 5).name == "SAME"


def test_one_undo_removes_a_new_group(address: str, open_page: Open, workspace: Workspace) -> None:
    workspace.criterion("colour").queue.fill(choices(4, 5))
    page = open_page(address)
    page.keyboard.press("n")
    page.keyboard.press("Enter")  # without a name
    page.locator("#toast-undo").click()
    expect(page.locator("#counts")).to_contain_text("0 answers")
    assert workspace.session.answers("colour") == []


def test_one_picture_of_a_pair_becomes_a_new_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill([Question.pair(2, 5), Question.pair(7, 8)])
    page = open_page(address)
    page.get_by_role("button", name="New group").click()
    form = page.get_by_role("form", name="New group")
    form.get_by_role("button", name="02red.png").click()  # leaves the other
    form.get_by_role("textbox").fill("sea")
    page.keyboard.press("Enter")
    expect(form).to_have_count(0)
    assert workspace.session.graph("colour").relation(2, 5).name == "DIFFERENT"
    labels = [e for e in workspace.session.answers("colour") if e.kind == "label"]
    assert [workspace.session.images.positions[e.images[0]] for e in labels] == [5]


def test_a_name_is_asked_for_and_does_not_block_the_keys(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    for other in (2, 4):
        colour.answer(Question.pair(0, other), "same")
    page = open_page(address)
    form = page.get_by_role("form", name="Name a group")
    expect(form).to_contain_text("What do you call this group?")
    answer(page, "Space")
    expect(form).to_be_visible()
    page.keyboard.press("e")
    page.keyboard.type("red")
    page.keyboard.press("Enter")
    expect(form).to_have_count(0)
    assert colour.status.groups.name("g1") == "red"


def test_a_name_that_is_not_wanted_is_not_asked_for_again(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for other in (2, 4):
        workspace.criterion("colour").answer(Question.pair(0, other), "same")
    page = open_page(address)
    form = page.get_by_role("form", name="Name a group")
    form.get_by_role("button", name="Not now").click()
    answer(page, "Space")
    page.reload()
    expect(page.locator("#counts")).to_contain_text("3 answers")
    expect(form).to_have_count(0)


@pytest.fixture
def many_groups(session: Session) -> Session:
    """A criterion with twelve groups, of which a choice shows eight."""
    session.add_criterion("number")
    chances = np.eye(12, dtype=np.float32) * 0.7 + 0.025
    keys = tuple(f"g{i + 1}" for i in range(12))
    save_results(session, "number", chances, keys=keys, n_answers=3)
    return session


def test_a_group_that_is_not_offered_is_found_by_its_name(
    many_groups: Session, open_page: Open
) -> None:
    with Workspace(many_groups, has_worker=False, default_criterion="number") as workspace:
        number = workspace.criterion("number")
        number.change_group("g11", name="Oberon")
        shown = tuple(range(1, 9))
        number.queue.fill([Question.choice(0, shown, tuple(f"x{i}" for i in shown))])
        with served(workspace) as address:
            page = open_page(address)
            expect(page.locator(".choices kbd")).to_have_text([str(i) for i in range(1, 9)])
            page.keyboard.press("f")
            page.keyboard.type("ob")
            expect(page.locator("#find-list [role=option]")).to_have_text(["Oberon1"])
            page.keyboard.press("Enter")
            expect(page.locator("#toasts")).to_contain_text("Placed in Oberon")
        relation = many_groups.graph("number").relation(0, 10).name
        assert relation == "SAME"


def test_key_0_shows_the_other_groups_and_then_makes_a_new_one(
    many_groups: Session, open_page: Open
) -> None:
    with Workspace(many_groups, has_worker=False, default_criterion="number") as workspace:
        shown = tuple(range(1, 9))
        keys = tuple(f"x{i}" for i in shown)
        questions = [Question.choice(i, shown, keys) for i in (0, 11, 10)]
        workspace.criterion("number").queue.fill(questions)
        with served(workspace) as address:
            page = open_page(address)
            others = page.get_by_role("button", name="3 more groups")
            expect(others).to_be_visible()
            page.keyboard.press("0")
            offered = page.locator(".choices button > span:nth-child(2)")
            expect(offered).to_have_text(["group 10", "group 11", "group 12"])
            page.keyboard.press("Escape")
            expect(offered).to_have_count(8)
            page.keyboard.press("0")
            expect(offered).to_have_count(3)
            answer(page, "2")
            assert many_groups.graph("number").relation(0, 10).name == "SAME"
            expect(page.get_by_role("button", name="1 more group")).to_be_visible()
            page.keyboard.press("0")
            expect(offered).to_have_count(1)
            page.keyboard.press("0")
            page.keyboard.type("Titania")
            page.keyboard.press("Enter")
            expect(page.locator("#toasts")).to_contain_text("New group")
        assert many_groups.groups("number").shown()[-1].name == "Titania"


def test_after_three_answers_outside_the_shown_groups_a_pair_is_asked(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill(choices(2, 4, 6, 8, 10))
    page = open_page(address)
    for _ in range(3):
        expect(page.locator("h1")).to_have_text("Which colour?")
        answer(page, "0")
    expect(page.locator("h1")).to_have_text("Same colour?")
    answer(page, "d")
    expect(page.locator("h1")).to_have_text("Which colour?")


def show_grid(page: Page, images: list[int]) -> list[Any]:
    """Show a grid question; return a list that receives the body of the answer."""
    group = {"id": "g1", "name": "Winter", "colour": "#336699", "digit": 1}
    question = {
        "kind": "grid",
        "images": images,
        "groups": ["g1"],
        "representative": 0,
        "names": [f"{i}.png" for i in images],
        "offered": [{**group, "representative": 0, "members": []}],
    }
    reply = {"criterion": "colour", "questions": [question]}
    bodies: list[Any] = []
    intercept(page, "**/api/questions*", lambda route: route.fulfill(json=reply))

    def take(route: Any) -> None:
        bodies.append(route.request.post_data_json)
        route.fulfill(json={**reply, "accepted": True, "conflict": None})

    page.route("**/api/answers", take)
    page.keyboard.press("a")
    expect(page.locator("h1")).to_have_text("Tick those that do not belong to Winter")
    return bodies


def test_a_grid_is_answered_by_the_keyboard(address: str, open_page: Open) -> None:
    page = open_page(address)
    bodies = show_grid(page, list(range(1, 11)))
    page.keyboard.press("ArrowRight")  # to the first picture
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.locator(".grid [aria-pressed=true]")).to_have_count(0)
    assert bodies[0]["answer"] == "ticked"
    assert bodies[0]["ticked"] == [2, 6]


def test_a_name_that_a_group_has_already_is_that_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    colour.change_group("g2", name="Sea")
    colour.queue.fill(choices(4, 5))
    page = open_page(address)
    page.keyboard.press("n")
    page.keyboard.type("sea")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Placed in sea")
    assert colour.status.gallery().group_key(4) == "g2"
    page.keyboard.press("g")
    page.locator("[data-focus=name-g1]").fill("Sea")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Merged group 1 into Sea")
    expect(page.locator("section[data-group]")).to_have_count(1)
    page.click("#toast-undo")
    expect(page.locator("section[data-group]")).to_have_count(2)


def test_the_ticked_pictures_of_a_grid_become_a_new_group_and_one_undo_takes_it_back(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    grid = Question.grid((2, 4, 6, 8, 10), 0, "g1")
    workspace.criterion("colour").queue.fill([grid, Question.pair(7, 9)])
    page = open_page(address)
    expect(page.locator("h1")).to_have_text("Tick those that do not belong to group 1")
    page.keyboard.press("n")
    expect(page.locator(".note")).to_have_text("Tick the pictures of the new group first.")
    for image in (4, 6):
        page.locator(f".grid [data-id='{image}']").click()
    page.keyboard.press("n")
    page.keyboard.type("dusk")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("New group dusk")
    members = workspace.criterion("colour").status.gallery().members
    assert sorted(members["g3"].tolist()) == [4, 6]
    assert workspace.session.graph("colour").relation(2, 8).name == "SAME"
    page.click("#toast-undo")
    expect(page.locator("#counts")).to_contain_text("0 answers")
    assert workspace.session.answers("colour") == []


def test_a_grid_is_answered_by_touch_and_none_may_be_ticked(address: str, open_page: Open) -> None:
    page = open_page(address, width=390, height=844, has_touch=True)
    bodies = show_grid(page, list(range(1, 10)))
    page.locator(".grid .tile").nth(4).tap()
    page.get_by_role("button", name="The rest belong").tap()
    expect(page.locator(".grid [aria-pressed=true]")).to_have_count(0)
    with page.expect_response("**/api/answers"):
        page.get_by_role("button", name="The rest belong").tap()
    assert [body["ticked"] for body in bodies] == [[5], []]


def show_accuracy(page: Page, estimate: float, low: float, high: float) -> None:
    accuracy = {"estimate": estimate, "low": low, "high": high, "n_wrong": (1 - estimate) * 100}

    def change(route: Any) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "accuracy": accuracy})

    intercept(page, "**/api/status*", change)
    page.reload()


def test_the_figure_has_an_interval_and_a_goal_that_ends_the_work(
    address: str, open_page: Open
) -> None:
    page = open_page(address)
    show_accuracy(page, 0.94, 0.88, 0.98)
    text = "About 94 of 100 are in the right group (88 to 98)"
    expect(page.locator("#accuracy-text")).to_have_text(text)
    expect(page.locator(".reached")).to_have_count(0)
    page.locator("#goal").select_option("90")
    expect(page.locator(".reached")).to_contain_text("You can stop here")
    expect(page.locator(".reached")).to_contain_text("About 6 of the pictures")
    assert page.locator(".reached a").get_attribute("href") == "/api/export?by=colour&to=csv"
    page.get_by_role("button", name="Keep answering").click()
    expect(page.locator(".reached")).to_have_count(0)
    page.reload()
    expect(page.locator("#accuracy-text")).to_have_text(text)
    expect(page.locator(".reached")).to_have_count(0)


def test_of_a_very_wide_interval_only_the_ends_are_shown(address: str, open_page: Open) -> None:
    page = open_page(address)
    show_accuracy(page, 0.99, 0.01, 1)
    text = page.locator("#accuracy-text")
    expect(text).to_contain_text("Between 1 and 100 of 100 are in the right group")
    expect(page.locator(".accuracy-bar .estimate")).to_be_hidden()


def test_a_wide_interval_is_not_a_reason_to_stop(address: str, open_page: Open) -> None:
    page = open_page(address)
    show_accuracy(page, 0.97, 0.55, 1.0)
    expect(page.locator("#accuracy-text")).to_contain_text("About 97 of 100")
    expect(page.locator(".reached")).to_have_count(0)


def test_the_questions_are_rewritten_and_the_number_of_groups_is_changed(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#change-criterion")
    expect(page.locator("#criterion-pair")).to_have_attribute("placeholder", "Same colour?")
    page.fill("#criterion-pair", "Do both look <b>red</b>?")
    page.fill("#criterion-n", "")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Do both look <b>red</b>?")
    page.reload()
    expect(page.locator("h1")).to_have_text("Do both look <b>red</b>?")
    stored = workspace.session.criterion("colour")
    assert (stored.n_clusters, stored.choice_text) == (None, None)


def test_a_pair_is_answered_by_a_swipe(address: str, open_page: Open, workspace: Workspace) -> None:
    page = open_page(address, width=390, height=844, has_touch=True)
    before = page.locator("#view-ask").get_attribute("data-shown")
    page.evaluate(
        """() => {
          const picture = document.querySelector(".picture");
          const fire = (type, x) => picture.dispatchEvent(new PointerEvent(type, { bubbles: true,
            pointerType: "touch", isPrimary: true, clientX: x, clientY: 200 }));
          fire("pointerdown", 100); fire("pointermove", 200); fire("pointerup", 220);
          picture.click();
        }"""
    )
    expect(page.locator("#view-ask")).not_to_have_attribute("data-shown", before or "")
    expect(page.locator("#dialog-zoom")).to_be_hidden()
    assert [e.answer for e in workspace.session.answers("colour")] == ["different"]


def test_a_review_lists_as_many_pictures_as_may_be_wrong(
    open_page: Open, workspace: Workspace, session: Session
) -> None:
    chances = np.array([[0.55 + 0.03 * i, 0.45 - 0.03 * i] for i in range(12)], dtype=np.float32)
    accuracy = {"estimate": 0.8, "low": 0.7, "high": 0.9, "n_wrong": 2.4, "n_checked": 9}
    quality = {"accuracy": accuracy}
    save_results(session, "colour", chances, keys=("g1", "g2"), n_answers=3, quality=quality)
    workspace.criterion("colour").training_finished({})
    with served(workspace) as address:
        page = open_page(address)
        page.locator("#open-review").click()
        tiles = page.locator("#view-groups .tile:not([hidden])")
        expect(tiles).to_have_count(4)  # 12 * (1 - 0.7), and one more
        shown = [one.get_attribute("data-id") for one in tiles.all()]
        assert shown == ["0", "1", "2", "3"]
        page.get_by_label("Show", exact=True).select_option("all")
        expect(tiles).to_have_count(12)
