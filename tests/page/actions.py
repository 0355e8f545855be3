"""Actions of a person on the page, and helpers that wait for the page."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace


def right_key(page: Page) -> str:
    """Return the key of the right answer, which follows from the names of the pictures."""
    if page.locator(".done").count():
        return ""
    names = [image.get_attribute("alt") or "" for image in page.locator(".picture img").all()]
    colours = [re.sub(r"\d+|\.png", "", name) for name in names]
    if len(colours) == 2:
        return "s" if colours[0] == colours[1] else "d"
    faces = page.locator(".choices .examples img:first-child").all()
    digits = page.locator(".choices kbd").all_inner_texts()
    for digit, face in zip(digits, faces, strict=True):
        if colours[0] in (face.get_attribute("alt") or ""):
            return digit
    return "0"


def answer(page: Page, key: str) -> None:
    """Press a key and wait for the next question."""
    before = page.locator("#view-ask").get_attribute("data-shown")
    with page.expect_response(lambda r: r.url.endswith("/api/answers") and r.ok):
        page.keyboard.press(key)
    expect(page.locator("#view-ask")).not_to_have_attribute("data-shown", before or "")


def answer_all(page: Page, n: int) -> int:
    for count in range(n):
        key = right_key(page)
        if not key:
            return count
        answer(page, key)
    return n


def add_label_issues(workspace: Workspace, *pairs: tuple[int, int]) -> None:
    """Answer "same" for each pair and send label issues for these answers, as a worker does."""
    ids = [
        workspace.criterion("colour").answer(Question.pair(*pair), "same").result.id
        for pair in pairs
    ]
    issues = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in ids]
    n = len(ids)
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": n, "label_issues": issues}
    )


def intercept(page: Page, pattern: str, handler: Callable[[Route], object], times: int = 0) -> None:
    """Handle requests in place of the server; return once the handler is active.

    Chromium may send the first requests after `page.route` to the server, so a test path is
    requested until the handler answers it.
    """
    page.route("**/intercept-test", lambda route: route.fulfill(status=299))
    page.route(pattern, handler, times=times or None)
    request = "fetch('/intercept-test').then((reply) => reply.status, () => 0)"
    for _ in range(400):
        if page.evaluate(request) == 299:
            return
        page.wait_for_timeout(50)
    raise AssertionError("requests are not intercepted after 20 s")


def drag(page: Page, source: str, target: str) -> None:
    """Drag in small steps, after the layout is stable."""
    page.locator(target).first.wait_for()
    wait_for_pictures(page)
    page.drag_and_drop(source, target, steps=8)


def wait_for_pictures(page: Page) -> None:
    """Wait until all pictures are loaded, so that the layout is stable."""
    for _ in range(400):
        if page.evaluate("[...document.images].every((image) => image.complete)"):
            return
        page.wait_for_timeout(50)
    raise AssertionError("pictures are not loaded after 20 s")
