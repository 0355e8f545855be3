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


def test_a_point_of_the_map_shows_its_picture_and_can_be_moved(
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
    expect(card).to_contain_text("group 2 · in your answers")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g2"]
