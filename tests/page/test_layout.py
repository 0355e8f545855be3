"""Everything is visible on small and large screens, and has an accessible name."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.session import Session
from likewise.workspace.workspace import Workspace
from tests.page.actions import add_label_issues, intercept
from tests.page.conftest import Open, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_a_narrow_window_shows_everything_without_horizontal_scrolling(
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
        assert box["height"] >= 40  # large enough to touch
    for name in ("groups", "map", "answers", "ask"):
        page.click(f"#tab-{name}")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.locator("[data-answer=same]").click()
    expect(page.locator("#counts")).to_contain_text("1 answer")


def test_every_control_has_a_name_and_the_focus_is_visible(address: str, open_page: Open) -> None:
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


def test_the_footer_is_not_cut_off(session: Session, open_page: Open) -> None:
    with Workspace(session, has_worker=False) as workspace:
        for i in range(4):
            workspace.criterion("colour").answer(Question.choice(i + 2, (0, 1), ("g1", "g2")), "g1")
        workspace.criterion("colour").status.n_violations = 2
        with served(workspace) as address:
            page = open_page(address, width=1100)  # too narrow for one line
            outlook = page.locator("#agreement")
            expect(outlook).to_contain_text("the model disagrees with 2 answers")
            assert outlook.evaluate("e => e.scrollWidth <= e.clientWidth")
            page.keyboard.press("l")
            page.set_viewport_size({"width": 390, "height": 780})
            about = page.locator(".entries .about").first
            expect(about).to_be_visible()
            box = about.bounding_box()
            assert box is not None
            assert box["width"] > 150  # wide enough for words


def offer(page: Page, n: int) -> None:
    """Show a question with `n` groups of three pictures each."""
    shown: list[dict[str, Any]] = [
        {
            "id": f"g{i}",
            "name": f"a kind of colour {i}",
            "colour": "#336699",
            "digit": i + 1,
            "representative": i,
            "members": [i, i],
        }
        for i in range(n)
    ]
    question = {
        "kind": "choice",
        "images": [11, *range(n)],
        "groups": [one["id"] for one in shown],
        "names": ["11blue.png", *(f"{i:02}.png" for i in range(n))],
        "offered": shown,
    }
    reply = {"criterion": "colour", "questions": [question]}
    intercept(page, "**/api/questions*", lambda route: route.fulfill(json=reply))
    page.keyboard.press("a")
    expect(page.locator(".choices button")).to_have_count(n)
    for one in page.locator(".picture img, .examples img:first-child").all():
        expect(one).to_have_js_property("complete", True)


def visible_heights(page: Page, pictures: str) -> list[float]:
    """Return the visible height of each element in pixels."""
    found: list[float] = page.locator(pictures).evaluate_all(
        """all => Promise.all(all.map(one => new Promise(seen => new IntersectionObserver(
          ([entry]) => seen(entry.intersectionRatio > 0.98 ? entry.intersectionRect.height : 0)
        ).observe(one))))"""
    )
    return found


def test_all_offered_groups_are_visible(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    for width, height, n in [(1280, 800, 6), (1280, 720, 9), (1280, 720, 7), (1024, 700, 5)]:
        page.set_viewport_size({"width": width, "height": height})
        offer(page, n)
        assert min(visible_heights(page, ".choices .examples")) > 60, (width, height, n)
        assert min(visible_heights(page, ".answers button, .choices button")) > 40, (
            width,
            height,
            n,
        )
    add_label_issues(workspace, (0, 1))
    expect(page.locator(".label-issue")).to_be_visible()
    for width, height, n in [(1366, 660, 6), (1280, 720, 9)]:
        page.set_viewport_size({"width": width, "height": height})
        offer(page, n)
        assert min(visible_heights(page, ".choices .examples")) > 44, (width, height, n)


def test_a_label_issue_takes_one_line_on_a_phone(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address, width=390, height=780)
    add_label_issues(workspace, (0, 1))
    again = page.locator(".label-issue")
    expect(again).to_contain_text("Check again: you answered “same”")
    for n in (4, 6):
        offer(page, n)
        assert min(visible_heights(page, ".picture")) > 120
        assert min(visible_heights(page, ".choices .examples")) > 40
    right = again.get_by_role("button", name="It is correct")
    expect(right).to_be_hidden()
    again.locator("summary").click()
    expect(again.locator("img").first).to_be_visible()
    right.click()
    expect(again).to_have_count(0)


def test_the_name_of_an_enlarged_picture_has_its_own_line_on_a_phone(
    address: str, open_page: Open
) -> None:
    page = open_page(address, width=390, height=844)
    page.keyboard.press("z")
    box = page.locator("#dialog-zoom .row span").bounding_box()
    assert box is not None
    assert box["width"] > 300
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 320, "height": 640})  # or 1280 pixels at 400 % zoom
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
