"""Speed of gallery and map in Chromium: ``python -m benchmarks.speed_gallery --images 20000``.

Printed are the time from opening the groups to the first pictures, and the times between two frames
while the gallery scrolls at several speeds and while the map is dragged and zoomed. Server, browser
and image files are real; the points of the map are generated, so that there may be more of them.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.speed_page import machine_load, prepare, started
from likewise.random_streams import stream

CHROMIUM = "/usr/bin/chromium"
SPEEDS = (1_000, 4_000, 20_000)  # pixels per second
_SECONDS, _OPENINGS = 4, 5
READY = """() => new Promise((done) => {
  const begin = performance.now();
  document.querySelector("#tab-groups").click();
  const look = () => {
    const images = [...document.querySelectorAll("#view-groups .tile:not([hidden]) img")];
    const area = document.querySelector("#view-groups .scroller").getBoundingClientRect();
    const seen = images.filter((one) => one.getBoundingClientRect().top < area.bottom);
    const isLoaded = seen.length && seen.every((one) => one.complete && one.naturalWidth);
    if (isLoaded) done(performance.now() - begin);
    else requestAnimationFrame(look);
  };
  look();
})"""
SCROLL = """([speed, seconds]) => new Promise((done) => {
  const scroller = document.querySelector("#view-groups .scroller");
  const frames = [];
  let begin = 0;
  scroller.scrollTop = 0;
  const tick = (at) => {
    begin ||= at;
    frames.push(at);
    scroller.scrollTop = (at - begin) / 1000 * speed;
    if (at - begin < seconds * 1000) requestAnimationFrame(tick);
    else done(frames);
  };
  requestAnimationFrame(tick);
})"""

WATCH = """() => {
  const canvas = document.querySelector("#view-map canvas");
  window.watched = { frames: [], spent: [] };
  const tick = (at) => {
    window.watched.frames.push(at);
    window.watched.spent.push(Number(canvas.dataset.ms));
    window.watching = requestAnimationFrame(tick);
  };
  window.watching = requestAnimationFrame(tick);
}"""
WATCHED = "() => { cancelAnimationFrame(window.watching); return window.watched; }"
_STEPS = 150  # of the pointer


def gallery_bench(n_images: int, n_points: int) -> Iterator[str]:
    """Yield rows to print."""
    with tempfile.TemporaryDirectory(prefix="likewise-gallery-") as directory:
        folder = Path(directory) / "photos"
        prepare(folder, n_images)
        yield f"{n_images:,} images; {machine_load(Path(directory))}"
        with started(folder) as address, sync_playwright() as playwright:
            arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(300_000)
            page.goto(address)
            page.wait_for_selector("#view-ask h1")
            _wait_for_groups(page)
            yield _first_view(page)
            yield from _scrolled(page)
            yield from _map(page, n_points)
            browser.close()


def _wait_for_groups(page: Page) -> None:
    """Wait for the first training; afterwards nothing trains beside the measurements."""
    sections = "async () => (await (await fetch('/api/gallery')).json()).sections.length"
    while not page.evaluate(sections):
        page.wait_for_timeout(1_000)


def _first_view(page: Page) -> str:
    spent = []
    for _ in range(_OPENINGS):
        page.reload()
        page.wait_for_selector("#view-ask h1")
        page.wait_for_timeout(1_000)
        spent.append(page.evaluate(READY))
    first, rest = spent[0], np.median(spent[1:])
    return f"first view: {first:.0f} ms at first, {rest:.0f} ms later (median of {len(spent) - 1})"


def _scrolled(page: Page) -> Iterator[str]:
    """Yield the frame rate at each speed; at speed 0 nothing moves, which shows the machine."""
    for speed in (0, *SPEEDS):
        between = np.diff(page.evaluate(SCROLL, [speed, _SECONDS]))
        rate = 1000 / between.mean()
        p95 = np.quantile(between, 0.95)
        n_tiles = page.locator("#view-groups .tile").count()
        yield (
            f"scrolling at {speed:,} px/s: {rate:.0f} frames/s, 95 % of them within {p95:.0f} ms; "
            f"{n_tiles} tiles exist"
        )


def _map(page: Page, n_points: int) -> Iterator[str]:
    """Yield the frame rate while the map is dragged and zoomed."""
    points = _points(n_points)
    page.route("**/api/map*", lambda route: route.fulfill(json=points))
    page.click("#tab-map")
    page.wait_for_selector("#view-map canvas[data-ms]")
    page.wait_for_timeout(1_000)
    box = page.locator("#view-map canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    for name, move in (("dragged", _drag), ("zoomed", _zoom)):
        page.evaluate(WATCH)
        move(page, x, y)
        found = page.evaluate(WATCHED)
        between = np.diff(found["frames"])
        yield (
            f"map of {n_points:,} points, {name}: {1000 / between.mean():.0f} frames/s, 95 % of "
            f"them within {np.quantile(between, 0.95):.0f} ms; one drawing "
            f"{np.median(found['spent']):.1f} ms (median)"
        )


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


def _drag(page: Page, x: float, y: float) -> None:
    page.mouse.down()
    for step in range(_STEPS):
        page.mouse.move(x + 150 * np.sin(step / 12), y + 100 * np.cos(step / 9))
    page.mouse.up()


def _zoom(page: Page, x: float, y: float) -> None:
    page.mouse.move(x, y)
    for step in range(_STEPS):
        page.mouse.wheel(0, -100 if step % 30 < 15 else 100)


def main() -> None:
    """Measure with the parameters of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--points", type=int, default=100_000)
    arguments = parser.parse_args()
    for row in gallery_bench(arguments.images, arguments.points):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
