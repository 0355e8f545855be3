"""What annoyed the next person who used the page for the first time, and does no longer."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.page.conftest import Open, intercept
from tests.page.test_page import answer

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def doubt(workspace: Workspace, *pairs: tuple[int, int]) -> None:
    """Say that pictures are alike, and doubt it, as training may."""
    ids = [
        workspace.criterion("colour").answer(Question.pair(*pair), "same").result.id
        for pair in pairs
    ]
    suspects = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in ids]
    n = len(ids)
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": n, "label_issues": suspects}
    )


def offer(page: Page, n: int) -> None:
    """Ask for one of `n` groups, with three pictures beside each."""
    shown: list[dict[str, Any]] = [
        {
            "key": f"g{i}",
            "name": f"a kind of colour {i}",
            "colour": "#336699",
            "digit": i + 1,
            "image": i,
            "also": [i, i],
        }
        for i in range(n)
    ]
    question = {
        "kind": "choice",
        "images": [11, *range(n)],
        "groups": [one["key"] for one in shown],
        "names": ["11blue.png", *(f"{i:02}.png" for i in range(n))],
        "shown": shown,
    }
    reply = {"criterion": "colour", "questions": [question]}
    intercept(page, "**/api/questions*", lambda route: route.fulfill(json=reply))
    page.keyboard.press("a")
    expect(page.locator(".choices button")).to_have_count(n)
    for one in page.locator(".picture img, .faces img:first-child").all():
        expect(one).to_have_js_property("complete", True)


def heights(page: Page, pictures: str) -> list[float]:
    """Return of each picture how much of it is on the screen, in pixels from top to bottom."""
    found: list[float] = page.locator(pictures).evaluate_all(
        """all => Promise.all(all.map(one => new Promise(seen => new IntersectionObserver(
          ([entry]) => seen(entry.intersectionRatio > 0.98 ? entry.intersectionRect.height : 0)
        ).observe(one))))"""
    )
    return found


def test_a_held_key_answers_what_was_seen_and_nothing_else(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    ask, tally = page.locator("#view-ask"), page.locator("#tally b")

    def hold(key: str, said: str) -> None:
        page.keyboard.down(key)
        expect(tally).to_have_text(said)
        for _ in range(3):
            page.keyboard.down(key)
            page.wait_for_timeout(100)
        page.keyboard.up(key)
        page.wait_for_timeout(200)
        expect(tally).to_have_text(said)

    hold("Space", "1 answer")
    page.keyboard.press("Tab")
    ask.locator("[data-answer=different]").focus()
    hold("Enter", "2 answers")
    hold("u", "1 answer")
    page.keyboard.press("u")
    expect(tally).to_have_text("0 answers")


def test_a_name_is_saved_by_enter_given_up_by_escape_and_never_blank(
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
    assert name.input_value() == "vehicles"  # at once, not when newer groups come
    page.keyboard.press("a")
    expect(page.locator("#view-ask")).to_be_visible()
    assert workspace.session.groups("colour").name("g1") == "vehicles"
    kinds = [entry.kind for entry, _ in workspace.session.entries("colour")]
    assert kinds == ["rename"]


def test_every_group_is_seen_however_many_there_are(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    for width, height, n in [(1280, 800, 6), (1280, 720, 9), (1280, 720, 7), (1024, 700, 5)]:
        page.set_viewport_size({"width": width, "height": height})
        offer(page, n)
        assert min(heights(page, ".choices .faces")) > 60, (width, height, n)
        assert min(heights(page, ".answers button, .choices button")) > 40, (width, height, n)
    doubt(workspace, (0, 1))
    expect(page.locator(".again")).to_be_visible()
    for width, height, n in [(1366, 660, 6), (1280, 720, 9)]:
        page.set_viewport_size({"width": width, "height": height})
        offer(page, n)
        assert min(heights(page, ".choices .faces")) > 44, (width, height, n)


def test_a_second_look_takes_one_line_of_a_phone(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address, width=390, height=780)
    doubt(workspace, (0, 1))
    again = page.locator(".again")
    expect(again).to_contain_text("Look again: you said same")
    for n in (4, 6):
        offer(page, n)
        assert min(heights(page, ".picture")) > 120
        assert min(heights(page, ".choices .faces")) > 40
    right = again.get_by_role("button", name="It is right")
    expect(right).to_be_hidden()
    again.locator("summary").click()
    expect(again.locator("img").first).to_be_visible()
    right.click()
    expect(again).to_have_count(0)


def test_pictures_that_contradict_are_whole_and_what_is_left_is_not_spoken_of(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    page = open_page(address)
    contradiction = {"kind": "pair", "images": [0, 4], "groups": [], "names": ["", ""], "shown": []}
    reply = {"criterion": "colour", "questions": [contradiction]}
    intercept(page, "**/api/questions*", lambda route: route.fulfill(json=reply), times=1)
    with page.expect_response("**/api/questions*"):
        page.keyboard.press("a")
    expect(page.locator(".picture img")).to_have_count(2)
    answer(page, "d")
    expect(page.locator(".settled")).to_contain_text("please settle it above")
    fits = page.locator(".settle img").evaluate_all("all => all.map(e => getComputedStyle(e))")
    assert {one["objectFit"] for one in fits} == {"contain"}
    page.get_by_role("button", name="Leave it as it is").click()
    expect(page.locator(".settle")).to_have_count(0)
    expect(page.locator(".settled")).to_be_empty()
    page.reload()
    page.wait_for_selector("#view-ask h1")
    page.wait_for_timeout(500)  # a status that would bring it back has come by then
    expect(page.locator(".settle")).to_have_count(0)


def test_a_criterion_without_a_name_is_asked_for_again(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#add-orientation")
    dialog, trouble = page.locator("#dialog-orientation"), page.locator("#trouble")
    page.keyboard.type("   ")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Say in a word or two")
    page.keyboard.press("Control+a")
    page.keyboard.type("colour")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("colour")
    expect(dialog).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.type(" mood ")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Same mood?")
    expect(trouble).to_be_hidden()
    assert [one.name for one in workspace.session.criteria] == ["colour", "mood"]


def test_the_menu_says_what_is_so_and_goes_when_it_is_left(
    address: str, open_page: Open, session: Session
) -> None:
    page = open_page(address)
    menu, said = page.locator("#export"), page.locator("#export .said")
    menu.locator("summary").click()
    page.locator("#rescan").click()
    expect(said).to_have_text("The folder holds the same pictures as before.")
    assert session.root is not None
    Path(session.root).rename(session.root.with_name("away"))
    page.locator("#rescan").click()
    expect(page.locator("#trouble")).to_contain_text("The pictures cannot be reached")
    expect(said).to_be_empty()
    page.get_by_label("How pictures come into folders").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#rescan")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#rescan")).to_be_visible()
    page.keyboard.press("g")
    expect(page.locator("#rescan")).to_be_hidden()


def test_a_note_is_gone_when_it_no_longer_holds(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    note = page.locator("#view-ask .settled")
    doubt(workspace, (0, 1))
    page.locator(".again").get_by_role("button", name="It is right").click()
    expect(note).to_contain_text("Noted that it is right")
    page.keyboard.press("g")
    page.locator("[data-id='2']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-key=g2] [data-id='2']")).to_be_visible()
    page.keyboard.press("a")
    expect(note).to_be_empty()
    page.keyboard.press("u")
    expect(note).to_have_text("Taken back: group 2.")
    page.keyboard.press("m")
    page.keyboard.press("a")
    expect(note).to_be_empty()


def test_the_list_counts_answers_as_the_line_below_does(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    for key in ("s", "Space", "d"):
        answer(page, key)
    page.keyboard.press("u")
    expect(page.locator(".settled")).to_have_text("Taken back: different.")
    workspace.session.change_group("colour", "g1", name="sunset")
    expect(page.locator("#tally b")).to_have_text("2 answers")
    page.keyboard.press("l")
    expect(page.locator("#view-answers .bar p")).to_have_text(
        "2 answers, 1 taken back, 1 other change"
    )
    expect(page.locator(".entries li")).to_have_count(4)
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator("#view-answers .bar p")).to_have_text("3 answers, 1 other change")
    expect(page.locator("#tally b")).to_have_text("3 answers")
