"""The Map view."""

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from likewise.workspace.workspace import Workspace
from tests.page.actions import intercept
from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def large_map(address: str, open_page: Open) -> Page:
    """A page whose map has 100,000 points."""
    page = open_page(address)
    rng = np.random.default_rng(0)
    n = 100_000
    points = rng.normal(5_000, 1_500, size=(n, 2)).clip(0, 10_000).astype(int)
    body = {
        "scale": 10_000,
        "ids": list(range(n)),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "group": rng.integers(2, size=n).tolist(),
        "groups": ["g1", "g2"],
    }
    intercept(page, "**/api/map*", lambda route: route.fulfill(json=body))
    page.click("#tab-map")
    page.wait_for_selector("canvas[data-ms]")
    return page


def test_a_map_of_100_000_points_is_drawn_fast(large_map: Page) -> None:
    canvas = large_map.locator("#view-map canvas")
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    spent = []
    large_map.mouse.move(x, y)
    for step in range(10):
        large_map.mouse.wheel(0, -100 if step < 5 else 100)
        large_map.wait_for_timeout(50)
        spent.append(float(canvas.get_attribute("data-ms") or "inf"))
    # Milliseconds of one drawing, on the CPU of a machine that may be busy.
    assert min(spent) < 100, spent
    large_map.mouse.click(x, y)
    expect(large_map.locator("#view-map .card")).to_be_visible()


def open_map(
    address: str, open_page: Open, workspace: Workspace
) -> tuple[Page, tuple[float, float, float, float]]:
    """Return a page whose map has the red pictures at one place and the blue ones at another.

    And the middle of the map, and the width and height of its unit square.
    """
    from likewise.workspace.gallery import save_map

    where = workspace.session.images.askable
    places = (10_000 * (where[:, None] % 2 + [[0, 0]])).clip(2_000, 8_000).astype("uint16")
    save_map(workspace.session, "colour", where, places)
    page = open_page(address)
    page.keyboard.press("m")
    box = page.locator("canvas[data-ms]").bounding_box()
    assert box is not None
    across, down = box["width"] - 88, box["height"] - 88  # a margin on each side
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return page, (*middle, min(across, 1.6 * down), min(down, 1.6 * across))


def test_pictures_drawn_around_are_moved_and_the_move_is_undone(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page, box = open_map(address, open_page, workspace)
    x, y, width, height = box
    page.mouse.move(x - 0.45 * width, y - 0.45 * height)
    page.keyboard.down("Shift")
    page.mouse.down()
    for dx, dy in [(-0.1, -0.45), (-0.1, -0.1), (-0.45, -0.1), (-0.45, -0.4)]:
        page.mouse.move(x + dx * width, y + dy * height, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".map-tools")).to_contain_text("6 pictures selected")
    page.keyboard.press("2")
    expect(page.locator("#toasts")).to_contain_text("Moved 6 to group 2")
    assert len(workspace.criterion("colour").status.gallery().members["g2"]) == 12
    page.click("#toast-undo")
    expect(page.locator("#view-map .legend")).to_contain_text("group 1 · 6")
    assert workspace.session.answers("colour") == []


def test_a_larger_picture_is_shown_at_the_pointer(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page, (x, y, width, height) = open_map(address, open_page, workspace)
    page.mouse.move(x - 0.3 * width, y - 0.3 * height)
    preview = page.locator("#view-map .preview")
    expect(preview).to_be_visible()
    page.mouse.move(x, y)
    expect(preview).to_be_hidden()


def test_a_point_of_the_map_shows_its_picture_and_can_be_moved(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page, (x, y, width, height) = open_map(address, open_page, workspace)
    page.mouse.click(x - 0.3 * width, y - 0.3 * height)
    card = page.locator("#view-map .card")
    expect(card).to_contain_text(re.compile(r"group 1 · \d\d % sure\s*\d+red.png"))
    card.get_by_label("Move this picture to").select_option("g2")
    expect(card).to_contain_text("group 2 · placed by you")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"]


def test_pictures_of_the_map_are_shown_selected_and_moved_by_keyboard(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page, _ = open_map(address, open_page, workspace)
    page.get_by_role("button", name="Show the whole map").focus()
    page.locator("#view-map canvas").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    shown = re.compile(r"group 1 · .*red.png", re.S)
    expect(page.locator("#view-map .card")).to_contain_text(shown)
    page.keyboard.press("Space")
    expect(page.locator(".map-tools")).to_contain_text("1 picture selected")
    page.keyboard.press("2")
    expect(page.locator("#toasts")).to_contain_text("Moved 1 to group 2")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"]
