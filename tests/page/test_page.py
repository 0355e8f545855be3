"""What a person does on the page, in a real browser."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session, save_results
from likewise.workspace.workspace import Workspace
from tests.page.conftest import Open, drag, served
from tests.workspace.images import save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def right_key(page: Page) -> str:
    """Return the key for the question on the page, whose pictures' names tell it."""
    if page.locator(".done").count():
        return ""
    names = [image.get_attribute("alt") or "" for image in page.locator(".picture img").all()]
    colours = [re.sub(r"\d+|\.png", "", name) for name in names]
    if len(colours) == 2:
        return "s" if colours[0] == colours[1] else "d"
    faces = page.locator(".choices .faces img:first-child").all()
    digits = page.locator(".choices kbd").all_inner_texts()
    for digit, face in zip(digits, faces, strict=True):
        if colours[0] in (face.get_attribute("alt") or ""):
            return digit
    return "0"


def answer(page: Page, key: str) -> None:
    """Press a key as soon as a person could, and wait for the next question."""
    before = page.locator("#view-ask").get_attribute("data-shown")
    with page.expect_response(lambda r: r.url.endswith("/api/answers") and r.ok):
        page.keyboard.press(key)
    expect(page.locator("#view-ask")).not_to_have_attribute("data-shown", before or "")


def press_through(page: Page, n: int) -> int:
    for count in range(n):
        key = right_key(page)
        if not key:
            return count
        answer(page, key)
    return n


def test_the_question_names_the_criterion_and_shows_both_pictures(
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


def test_the_whole_job_with_nothing_but_the_keyboard(
    address: str, open_page: Open, workspace: Workspace, tmp_path: Path
) -> None:
    page = open_page(address)
    n = press_through(page, 80)
    expect(page.locator(".done h1")).to_have_text("Nothing is left to ask.")
    assert n == len(workspace.session.answers("colour"))
    page.keyboard.press("g")
    expect(page.locator("section.group[data-key]")).to_have_count(2)
    page.locator("[data-focus=name-g1]").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("sunset")
    page.keyboard.press("Enter")
    expect(page.locator("section[aria-label=sunset]")).to_be_visible()
    page.locator("#export summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    download.value.save_as(tmp_path / "out.csv")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert {(row["path"][2:-4], row["name"]) for row in rows} == {
        ("red", "sunset"),
        ("blue", "group 2"),
    }


def test_an_answer_says_what_else_it_settled(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for other in (2, 4):
        workspace.criterion("colour").answer(Question.pair(0, other), "same")
    workspace.criterion("colour").queue.fill([Question.pair(0, 6)])
    page = open_page(address)
    answer(page, "ArrowLeft")
    expect(page.locator(".settled")).to_have_text("This also settled 2 pairs.")
    expect(page.locator("#tally")).to_contain_text("3 answers: 3 same")


def test_keys_for_a_choice_and_for_what_cannot_be_judged(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    criterion = workspace.criterion("colour")
    questions = [Question.choice(i, (0, 1), ("g1", "g2")) for i in (2, 3, 4, 5)]
    criterion.queue.fill([*questions, Question.pair(6, 7)])
    page = open_page(address)
    expect(page.locator("h1")).to_have_text("Which colour?")
    for key in ("1", "2", "Space", "x"):
        answer(page, key)
    said = [entry.answer for entry in workspace.session.answers("colour")]
    assert said == ["g1", "g2", "cannot_tell", "bad_image"]


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
        page.select_option("#orientation", "mood")
        expect(page.locator(".choices kbd")).to_have_text(["2", "3"])
        page.keyboard.press("1")  # is nobody's here
        answer(page, "3")
        assert [entry.answer for entry in workspace.session.answers("mood")] == ["g3"]


def test_a_criterion_of_several_words_is_asked_for_in_a_sentence(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    workspace.add_criterion("what it shows", 2)
    workspace.criterion("what it shows").line.fill([Question.choice(5, (0, 1), ("g1", "g2"))])
    page = open_page(address)
    page.select_option("#orientation", "what it shows")
    expect(page.locator("h1")).to_have_text("Which group, by what it shows?")


def test_undo_works_after_a_restart(session: Session, open_page: Open) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        press_through(page, 3)
    with Workspace(Session.open(path), has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        expect(page.locator("#tally")).to_contain_text("3 answers")
        for left in ("2 answers", "1 answer", "0 answers"):
            page.keyboard.press("Control+z" if left == "1 answer" else "u")
            expect(page.locator("#tally b")).to_have_text(left)
        page.keyboard.press("u")
        expect(page.locator(".settled")).to_have_text("There is nothing to take back.")


def test_a_contradiction_is_settled_by_taking_one_back(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    page = open_page(address)
    workspace.criterion("colour").answer(
        Question.pair(0, 4), "different"
    )  # another person, meanwhile
    settle = page.locator(".settle")
    expect(settle).to_contain_text("These answers cannot all be right")
    expect(settle.locator("li")).to_have_count(3)
    settle.locator("li", has_text="set aside").get_by_role("button").click()
    expect(settle).to_have_count(0)
    assert workspace.criterion("colour").review.conflicts() == []
    assert len(workspace.session.answers("colour")) == 2


def test_pictures_are_dragged_to_another_group(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#tab-groups")
    drag(page, "[data-id='0']", "section[data-key=g2]")
    expect(page.locator("section[data-key=g2] [data-id='0']")).to_be_visible()
    page.click("[data-id='2']")
    page.click("[data-id='4']")
    expect(page.locator("#view-groups .bar")).to_contain_text("2 pictures chosen")
    drag(page, "[data-id='2']", "section[data-key=g2]")
    expect(page.locator("section[data-key=g2] .tile")).to_have_count(9)
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"] * 3


def test_pictures_are_moved_without_a_mouse_too(address: str, open_page: Open) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    page.locator("[data-id='0']").first.focus()
    page.keyboard.press("Enter")
    page.locator("[data-focus=target]").select_option("g2")
    expect(page.locator("section[data-key=g2] [data-id='0']")).to_be_visible()


def test_any_answer_is_found_and_taken_back(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for other in (2, 4, 1):
        word = "different" if other == 1 else "same"
        workspace.criterion("colour").answer(Question.pair(0, other), word, who="ada")
    page = open_page(address)
    page.keyboard.press("l")
    page.get_by_role("searchbox").fill("04red")
    expect(page.locator(".entries li")).to_have_count(1)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator(".entries")).to_contain_text("taken back")
    assert [entry.id for entry in workspace.session.answers("colour")] == [1, 3]


def test_two_browsers_ask_different_things_and_hear_of_each_other(
    address: str, open_page: Open
) -> None:
    one, other = open_page(address), open_page(address)
    seen = [
        {image.get_attribute("alt") for image in page.locator(".picture img").all()}
        for page in (one, other)
    ]
    assert seen[0] != seen[1]
    answer(one, "Space")
    expect(other.locator("#tally")).to_contain_text("1 answer: 1 can't tell")


def test_updated_groups_are_told_quietly_and_shown(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    save_half_results(workspace.session, n_answers=5)
    workspace._receive({"event": "trained", "criterion": "colour", "n_answers": 5, "n_moved": 2})
    expect(page.locator("#news")).to_have_text("groups updated, 2 pictures moved")


def test_another_way_to_sort_is_begun_and_left(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#add-orientation")
    page.keyboard.type("in or out of doors")
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Same in or out of doors?")
    answer(page, "d")
    page.locator("#orientation").select_option("colour")
    expect(page.locator("h1")).to_have_text("Same colour?")
    expect(page.locator("#tally")).to_contain_text("0 answers")
    assert len(workspace.session.answers("in or out of doors")) == 1


def test_typing_a_name_answers_nothing(address: str, open_page: Open, workspace: Workspace) -> None:
    page = open_page(address)
    page.keyboard.press("?")
    page.locator("#dialog-help input").fill("sad dx")
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog-help")).to_be_hidden()
    assert workspace.session.answers("colour") == []
    answer(page, "s")
    assert workspace.session.answers("colour")[0].who == "sad dxs"


def test_a_narrow_window_shows_all_and_scrolls_nothing_sideways(
    address: str, open_page: Open
) -> None:
    page = open_page(address, width=380, height=700)
    for image in page.locator(".picture img").all():
        box = image.bounding_box()
        assert box is not None
        assert box["height"] > 120
    for word in ("same", "different", "cannot_tell", "bad_image"):
        button = page.locator(f"[data-answer={word}]")
        expect(button).to_be_in_viewport(ratio=1)
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 40  # for a thumb
    for name in ("groups", "map", "answers", "ask"):
        page.click(f"#tab-{name}")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.locator("[data-answer=same]").click()
    expect(page.locator("#tally")).to_contain_text("1 answer")


def test_a_server_that_is_gone_is_said_so_and_found_again(
    session: Session, open_page: Open
) -> None:
    with Workspace(session, has_worker=False) as workspace:
        with served(workspace) as address:
            page = open_page(address)
        page.keyboard.press("s")
        expect(page.locator("#trouble")).to_contain_text("start it again")
        expect(page.locator("#trouble")).to_be_visible()
        assert workspace.session.answers("colour") == []


def test_every_control_has_a_name_and_the_focus_is_seen(address: str, open_page: Open) -> None:
    page = open_page(address)
    for view in ("ask", "groups", "map", "answers"):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(200)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("button, a, input, select, canvas, img")]
            .filter(e => e.checkVisibility())
            .filter(e => !(e.innerText || e.getAttribute("aria-label") || e.alt || e.title ||
                           e.querySelector?.("img[alt]")))
            .map(e => e.outerHTML)"""
        )
        assert nameless == []
    page.keyboard.press("a")
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"
