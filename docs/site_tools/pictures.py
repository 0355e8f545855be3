"""Take the pictures of the page for the docs: ``python -m docs.site_tools.pictures docs/pictures``.

The real program and page in Debian's Chromium, generated landscapes (seed 0), and a person who
answers by what is in the names of the files. It takes about three minutes.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from docs.site_tools.landscapes import paint_landscapes, value_of

N_PICTURES, N_ANSWERS = 240, {"season": 40, "place": 24}
CHROMIUM = "/usr/bin/chromium"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def main(out: Path) -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "Pictures" / "Landscapes"
        paint_landscapes(folder, N_PICTURES)
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        with started([str(folder), "--by", "season"], place) as address:
            take_session(open_page(browser, address), out)
            take_phone(browser, address, out)
        with started(["--root", str(folder.parent)], place) as address:
            page = open_page(browser, address, ready=".card img")
            shoot(page, out / "page-start.png")
        browser.close()


@contextmanager
def started(arguments: list[str], home: str) -> Iterator[str]:
    """Run `likewise start` and yield the address that it prints."""
    command = [sys.executable, "-c", "from likewise.cli.main import run; run()", "start"]
    with subprocess.Popen(
        [*command, *arguments, "--no-browser", "--keep-token"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": home},  # its recent sessions are not the person's
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)


def open_page(
    browser: Browser, address: str, ready: str = "#view-ask h1", **options: object
) -> Page:
    """Open the page as a person who knows the introduction."""
    context: BrowserContext = browser.new_context(
        **{"viewport": WIDE, "reduced_motion": "reduce", **options}  # type: ignore[arg-type]
    )
    context.add_init_script("localStorage.setItem('likewise-introduced', 'yes')")
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(ready)
    return page


# -- what is shown --


def take_session(page: Page, out: Path) -> None:
    """Take the views of a session with two criteria."""
    wait_until(page, "status.n_images === groups.reduce((n, one) => n + one.n_images, 0)")
    work(page, "season")
    page.keyboard.press("g")
    shoot(page, out / "page-groups.png")
    page.locator(".check-group").nth(1).click()
    page.locator("#dialog-review .tile").nth(2).click()
    shoot(page, out / "page-check.png")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    shoot(page, out / "page-map.png")
    page.keyboard.press("a")
    answer_until_choice(page, "season")
    shoot(page, out / "page-ask.png")
    contradict(page)
    shoot(page, out / "page-settle.png")
    page.locator(".review li", has_text="not used").get_by_role("button").click()
    page.click("#add-criterion")
    page.keyboard.type("place")
    page.keyboard.press("Enter")
    work(page, "place")
    page.keyboard.press("c")
    shoot(page, out / "page-compare.png")
    page.locator("#criterion").select_option("season")


def take_phone(browser: Browser, address: str, out: Path) -> None:
    """Take a question as a phone shows it, in the dark theme."""
    page = open_page(browser, address, viewport=PHONE, has_touch=True, color_scheme="dark")
    answer_until_choice(page, "season")
    shoot(page, out / "page-phone.png")


def shoot(page: Page, path: Path) -> None:
    """Save what the page shows, with at most 256 colours."""
    page.mouse.move(640, 5)
    page.wait_for_timeout(2_000)
    page.screenshot(path=path)
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)


# -- what the person does --


def work(page: Page, by: str) -> None:
    """Answer questions and name the groups."""
    for _ in range(N_ANSWERS[by]):
        answer(page, by)
    wait_until(page, "status.n_answers === status.n_answers_trained")
    name_groups(page, by)


def wait_until(page: Page, condition: str) -> None:
    """Wait for a condition on the status and the groups of the criterion."""
    request = """async () => {
      const by = encodeURIComponent(document.querySelector("#criterion").value);
      const get = async (path) => (await fetch(`/api/${path}?by=${by}`)).json();
      const [status, { groups = [] }] = [await get("status"), await get("groups")];
      return CONDITION;
    }""".replace("CONDITION", condition)
    for _ in range(600):
        if page.evaluate(request):
            return
        page.wait_for_timeout(1_000)
    raise TimeoutError(f"not reached in ten minutes: {condition}")


def answer_until_choice(page: Page, by: str) -> None:
    """Answer until the question is a choice among several groups."""
    for _ in range(30):
        if page.locator(".choices button").count() >= 3:
            return
        answer(page, by)


def answer(page: Page, by: str) -> None:
    """Give the right answer and wait for the next question; a grid is left out."""
    view = page.locator("#view-ask")
    before = view.get_attribute("data-shown")
    seen = [value_of(alt, by) for alt in _names(page, ".picture img")]
    shown = [value_of(alt, by) for alt in _names(page, ".choices .examples img:first-child")]
    if len(seen) == 2:
        page.keyboard.press("s" if seen[0] == seen[1] else "d")
    elif seen and seen[0] in shown:
        page.locator(".choices button").nth(shown.index(seen[0])).click()
    elif seen and page.locator("[data-answer=none]").inner_text().startswith("None"):
        page.keyboard.press("n")  # all groups were shown
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("0" if seen else "Space")
    page.wait_for_function(
        "n => document.querySelector('#view-ask').dataset.shown !== n", arg=before
    )
    page.wait_for_timeout(400)


def _names(page: Page, selector: str) -> list[str]:
    return [image.get_attribute("alt") or "" for image in page.locator(selector).all()]


def name_groups(page: Page, by: str) -> None:
    """Name each group after most of its visible pictures; merge groups that are the same."""
    page.keyboard.press("g")
    page.wait_for_selector("section[data-group]")
    named: dict[str, str] = {}
    keys = [
        one.get_attribute("data-group") or "" for one in page.locator("section[data-group]").all()
    ]
    for key in keys:
        page.click(f".chip[data-to={key}]")
        page.wait_for_timeout(1_000)
        labels = page.locator(f"section[data-group={key}] .tile:not([hidden])")
        names = [one.get_attribute("aria-label") or "" for one in labels.all()]
        values = Counter(value_of(one, by) for one in names if re.match(r"\w+-\w+-", one))
        value = values.most_common(1)[0][0].capitalize()
        if value in named:
            page.locator(f"section[data-group={key}] header select").focus()
            page.locator(f"section[data-group={key}] header select").select_option(named[value])
        else:
            named[value] = key
            page.locator(f"[data-focus=name-{key}]").fill(value)
            page.locator(f"[data-focus=name-{key}]").press("Enter")
        page.wait_for_timeout(1_500)
        page.keyboard.press("Escape")
    page.locator("#view-groups .scroller").evaluate("element => element.scrollTo(0, 0)")
    for close in page.locator("#toasts .close").all():
        close.click()


def contradict(page: Page) -> None:
    """Give an answer that contradicts an earlier one."""
    page.evaluate(
        """async () => {
          const log = await (await fetch("/api/answers?by=season&limit=100")).json();
          const isPlaced = (one) => one.images.length > 1 && /^g\\d/.test(one.answer);
          const { images } = log.answers.find(isPlaced);
          const question = { kind: "pair", images: images.slice(0, 2).sort((a, b) => a - b) };
          const body = JSON.stringify({ criterion: "season", question, answer: "different" });
          const headers = { "Content-Type": "application/json" };
          await fetch("/api/answers", { method: "POST", body, headers });
        }"""
    )
    page.wait_for_selector(".review")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
