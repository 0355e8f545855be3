"""Frame rate of the map: ``python -m tests.page.map_frame_rate --points 100000``.

The server is real, the browser is Debian's Chromium, the points are made up: painting a hundred
thousand pictures takes ten minutes, and the map asks nothing of them. Printed are the times between
two frames, and those of one drawing, while the map is dragged and zoomed.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.speed_page import prepare, started
from likewise.random_streams import stream
from tests.page.conftest import CHROMIUM

_N_PICTURES = 500
WATCH = """() => {
  window.frames_ = []; window.spent_ = [];
  const canvas = document.querySelector("#view-map canvas");
  const tick = (at) => {
    window.frames_.push(at); window.spent_.push(Number(canvas.dataset.ms));
    window.watching_ = requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""
TAKE = (
    """() => { cancelAnimationFrame(window.watching_); return [window.frames_, window.spent_]; }"""
)


def frames(n_points: int) -> Iterator[str]:
    """Yield printed rows."""
    with tempfile.TemporaryDirectory(prefix="likewise-map-") as place:
        folder = Path(place) / "photos"
        prepare(folder, _N_PICTURES)
        with started(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(120_000)
            page.route("**/api/map*", lambda route: route.fulfill(json=_points(n_points)))
            page.goto(address)
            page.wait_for_selector("#view-ask h1")
            while not page.locator("#view-map .dot").count():  # the first groups
                page.keyboard.press("m")
                page.wait_for_timeout(2_000)
            yield f"{n_points:,} points"
            yield from _moved(page)
            browser.close()


def _points(n: int) -> dict[str, object]:
    rng = stream(0, "points of a map")
    places = rng.normal(5_000, 1_500, size=(n, 2)).clip(0, 10_000).astype(int)
    return {
        "scale": 10_000,
        "ids": list(range(n)),
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
        "group": rng.integers(10, size=n).tolist(),
        "groups": [f"g{number + 1}" for number in range(10)],
    }


def _moved(page: Page) -> Iterator[str]:
    box = page.locator("#view-map canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    for name, act in (("dragging", _drag), ("zooming", _zoom)):
        page.evaluate(WATCH)
        act(page, x, y)
        ticks, spent = page.evaluate(TAKE)
        between = np.diff(ticks)
        yield (
            f"{name}: {len(ticks)} frames, {np.median(between):.0f} ms apart (median), "
            f"{np.quantile(between, 0.95):.0f} ms (95 %); one drawing {np.median(spent):.1f} ms "
            f"(median), {np.quantile(spent, 0.95):.1f} ms (95 %)"
        )


def _drag(page: Page, x: float, y: float) -> None:
    page.mouse.down()
    for step in range(150):
        page.mouse.move(x + 150 * np.sin(step / 12), y + 100 * np.cos(step / 9))
    page.mouse.up()


def _zoom(page: Page, x: float, y: float) -> None:
    for step in range(60):
        page.mouse.wheel(0, -100 if step % 20 < 10 else 100)
        page.wait_for_timeout(16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    for row in frames(parser.parse_args().points):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
