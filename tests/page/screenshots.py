"""Take the screenshots of the docs: ``python -m tests.page.screenshots docs/pictures``.

Painted pictures, the real program, Debian's Chromium, and a person who answers by what is in the
names of the files.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from likewise_bench.datasets.synthetic import FACTORS, make_scenes
from tests.page.actions import answer
from tests.page.conftest import CHROMIUM

N_PICTURES, N_ANSWERS = 384, {"shape": 40, "background": 24}
SEED = 0


def paint(folder: Path) -> None:
    """Paint scenes; the file names contain the values of all factors."""
    pictures, labels = make_scenes(N_PICTURES, seed=SEED)
    folder.mkdir()
    for number, pixels in enumerate(pictures):
        words = "-".join(str(labels[factor][number]) for factor in FACTORS)
        Image.fromarray(pixels).resize((256, 256), Image.Resampling.BICUBIC).save(
            folder / f"{words}-{number:03}.png"
        )


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """Run `likewise start` and yield the address it prints."""
    command = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]
    command += [str(folder), "--by", "shape", "-k", "4", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            os.kill(process.pid, signal.SIGINT)


def right_key(page: Page, factor: str) -> str:
    """Return the key of the right answer."""
    place = list(FACTORS).index(factor)

    def value(alt: str | None) -> str:
        return (alt or "").split("-")[place]

    seen = [value(image.get_attribute("alt")) for image in page.locator(".picture img").all()]
    if len(seen) == 2:
        return "s" if seen[0] == seen[1] else "d"
    faces = page.locator(".choices .examples img:first-child").all()
    shown = [value(face.get_attribute("alt")) for face in faces]
    digits = page.locator(".choices kbd").all_inner_texts()
    return digits[shown.index(seen[0])] if seen[0] in shown else "0"


def answer_some(page: Page, factor: str) -> None:
    """Answer the questions of one criterion at the speed of a person."""
    for _ in range(N_ANSWERS[factor]):
        answer(page, right_key(page, factor))
        page.wait_for_timeout(700)
    page.wait_for_timeout(6_000)


def name_groups(page: Page, factor: str) -> None:
    """Name each group after its most confident picture."""
    place = list(FACTORS).index(factor)
    page.keyboard.press("g")
    page.wait_for_selector("section[data-group]")
    for key in [
        one.get_attribute("data-group") for one in page.locator("section[data-group]").all()
    ]:
        face = page.locator(f"section[data-group={key}] .tile img").first.get_attribute("alt") or ""
        name = page.locator(f"[data-focus=name-{key}]")
        name.fill(face.split("-")[place])
        name.press("Enter")
        page.wait_for_timeout(1_000)
    page.evaluate("document.activeElement.blur()")


def take(page: Page, out: Path) -> None:
    """Take a screenshot of each view."""

    def shoot(name: str, key: str = "") -> None:
        if key:
            page.keyboard.press(key)
        page.mouse.move(600, 5)
        page.locator("main").evaluate("main => main.scrollTo(0, 0)")
        page.wait_for_timeout(2_000)
        page.screenshot(path=out / f"page-{name}.png")

    answer_some(page, "shape")
    name_groups(page, "shape")
    shoot("groups", "g")
    page.keyboard.press("a")
    while page.locator("h1", has_text="Same").count():
        answer(page, right_key(page, "shape"))
    shoot("ask")
    shoot("map", "m")
    page.keyboard.press("a")
    contradict(page)
    shoot("settle")
    page.locator(".review li", has_text="not used").get_by_role("button").click()
    page.click("#add-criterion")
    page.keyboard.type("background")
    page.keyboard.press("Tab")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    page.wait_for_timeout(4_000)
    answer_some(page, "background")
    name_groups(page, "background")
    shoot("compare", "c")


def contradict(page: Page) -> None:
    """Give an answer that contradicts an earlier one."""
    page.evaluate(
        """async () => {
          const log = await (await fetch("/api/answers?by=shape&limit=100")).json();
          const placed = (one) => one.kind === "choice" && one.answer.startsWith("g");
          const { images } = log.answers.find(placed);
          const question = { kind: "pair", images: images.slice(0, 2).sort((a, b) => a - b) };
          const body = JSON.stringify({ criterion: "shape", question, answer: "different" });
          const headers = { "Content-Type": "application/json" };
          await fetch("/api/answers", { method: "POST", body, headers });
        }"""
    )
    page.wait_for_selector(".review")


def main(out: Path) -> None:
    """Take all screenshots."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "scenes"
        paint(folder)
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        with started(folder) as address:
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.set_default_timeout(60_000)
            page.goto(address)
            page.wait_for_selector("#view-ask h1")
            take(page, out)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
