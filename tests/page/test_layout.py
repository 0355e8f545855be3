"""Everything is visible on small and large screens, and has an accessible name."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace
from tests.page.actions import add_label_issues, intercept
from tests.page.conftest import Open

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
            .filter(e => e.getAttribute("alt") !== "")
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


def test_the_figure_and_the_entries_are_not_cut_off(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for i in range(4):
        workspace.criterion("colour").answer(Question.choice(i + 2, (0, 1), ("g1", "g2")), "g1")
    page = open_page(address, width=1100)
    assert page.locator("#accuracy").evaluate("e => e.scrollWidth <= e.clientWidth")
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
    for width, height, n in [(1280, 800, 6), (1280, 720, 8), (1280, 720, 7), (1024, 700, 5)]:
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
    for width, height, n in [(1366, 660, 6), (1280, 720, 8)]:
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


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (390, 844)])
def test_every_view_fits_in_both_themes_and_in_german(
    width: int, height: int, address: str, open_page: Open, workspace: Workspace
) -> None:
    """Nothing is wider than the window, and no control of the frame is cut off or covered."""
    workspace.criterion("colour").change_group("g1", name="a very long name of a group " * 3)
    page = open_page(address, width=width, height=height, locale="de-DE")
    backgrounds = set()
    for _theme in ("light", "dark"):
        for view in ("ask", "groups", "map", "answers", "compare"):
            page.click(f"#tab-{view}")
            page.wait_for_timeout(200)
            sizes = page.evaluate("[document.documentElement.scrollWidth, main.scrollWidth]")
            assert max(sizes) <= width, (view, sizes)
            controls = page.locator("body > header > *, footer select").filter(visible=True)
            for control in controls.all():
                expect(control).to_be_in_viewport(ratio=0.99)
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.click("#theme")
    assert len(backgrounds) == 2


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_message_covers_no_form_and_no_answer(
    width: int, height: int, address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 2), (2, 4)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    page = open_page(address, width=width, height=height)
    page.locator("#name-form input").wait_for()
    page.evaluate(
        """async () => (await import("/page/toast.js")).toast("Moved 5 to Sketch", { undo() {} })"""
    )
    controls = "#name-form input, #name-form button, .answers button"
    message = page.locator(".toast").bounding_box()
    assert message is not None
    for control in page.locator(controls).filter(visible=True).all():
        box = control.bounding_box()
        assert box is not None
        is_beside = (
            box["x"] >= message["x"] + message["width"]
            or box["x"] + box["width"] <= message["x"]
            or box["y"] >= message["y"] + message["height"]
            or box["y"] + box["height"] <= message["y"]
        )
        assert is_beside, (control.get_attribute("class"), box, message)
