"""Speed of the questions in Chromium: ``python -m benchmarks.speed_questions --images 20000``.

Printed are the time from a key to the next question while training runs, and the time from
the start page to the first question of a folder that was never read. Everything is real.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.speed_gallery import CHROMIUM
from benchmarks.speed_page import machine_load, prepare, started
from benchmarks.synthetic_load_data import group_of, paint

_KEYS, _PAUSE = 80, 400  # answers, and milliseconds between two of them
_MEDIAN, _P95, _FIRST = 40, 100, 10_000  # milliseconds
WATCH = """() => {
  const view = document.querySelector("#view-ask");
  window.times = [];
  let pressed = 0;
  addEventListener("keydown", () => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    const since = pressed;
    pressed = 0;
    if (since) requestAnimationFrame(() => times.push(performance.now() - since));
  }).observe(view, { attributes: true, attributeFilter: ["data-shown"] });
}"""


def questions_bench(n_images: int) -> Iterator[str]:
    """Yield rows to print."""
    with (
        tempfile.TemporaryDirectory(prefix="likewise-questions-") as directory,
        sync_playwright() as playwright,
    ):
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield f"{n_images:,} images; {machine_load(Path(directory))}"
        yield from _first_question(browser, Path(directory) / "home", n_images)
        folder = Path(directory) / "photos"
        prepare(folder, n_images)
        with started(folder) as address:
            yield from _key_to_question(browser, address)
        browser.close()


def _key_to_question(browser: Browser, address: str) -> Iterator[str]:
    page = _open(browser, address)
    page.wait_for_selector("#view-ask h1")
    while not page.evaluate("fetch('/api/status').then((r) => r.json()).then((s) => s.n_groups)"):
        page.wait_for_timeout(500)
    page.evaluate(WATCH)
    trained = 0
    for _ in range(_KEYS):
        page.keyboard.press(_right_key(page))
        page.wait_for_timeout(_PAUSE)
        trained += page.locator("#activity").inner_text().startswith("Training")
    spent = page.evaluate("window.times")
    p50, p95 = np.quantile(spent, [0.5, 0.95])
    verdict = "ok" if p50 <= _MEDIAN and p95 <= _P95 else "TOO SLOW"
    yield (
        f"key to next question: median {p50:.0f} ms, p95 {p95:.0f} ms, {verdict}; {len(spent)} "
        f"keys, during {trained} of them training ran"
    )


def _right_key(page: Page) -> str:
    """Return the key of the right answer, by the names of the pictures."""
    names = page.locator(".picture img").evaluate_all("(all) => all.map((one) => one.alt)")
    seen = [group_of(name) for name in names]
    if len(seen) == 2:
        return "s" if seen[0] == seen[1] else "d"
    first = ".choices .examples img:first-child"
    faces = page.locator(first).evaluate_all("(all) => all.map((one) => one.alt)")
    digits = page.locator(".choices kbd").all_inner_texts()
    shown = [group_of(name) for name in faces]
    return digits[shown.index(seen[0])] if seen[0] in shown else " "


def _first_question(browser: Browser, home: Path, n_images: int) -> Iterator[str]:
    """Yield the time from the start page to the first question, without that of typing."""
    paint(home / "photos", n_images, 10)
    environment = {**os.environ, "XDG_STATE_HOME": str(home / ".state")}
    command = [sys.executable, "-m", "likewise", "start", "--no-browser", "--root", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            page = _open(browser, server.stdout.readline().strip())
            page.get_by_role("button", name="photos").click()
            page.wait_for_function("document.querySelector('#path').value.endsWith('photos')")
            began = time.perf_counter()
            page.click("#open")
            page.wait_for_selector("#criterion-name")
            opened = time.perf_counter() - began
            page.fill("#criterion-name", "group")
            began = time.perf_counter()
            page.keyboard.press("Enter")
            page.wait_for_selector("#view-ask .picture img")
            page.wait_for_function(
                "[...document.querySelectorAll('#view-ask .picture img')].every((i) => i.complete)"
            )
            asked = time.perf_counter() - began
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(60)
    verdict = "ok" if 1000 * (opened + asked) <= _FIRST else "TOO SLOW"
    yield (
        f"start page to first question: {opened + asked:.1f} s, {verdict} ({opened:.1f} s until "
        f"the page asks for the criterion, {asked:.1f} s from then on)"
    )


def _open(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(600_000)
    page.add_init_script("localStorage.setItem('likewise-introduced', 'yes')")
    page.goto(address)
    return page


def main() -> None:
    """Measure with the parameters of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    for row in questions_bench(parser.parse_args().images):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
