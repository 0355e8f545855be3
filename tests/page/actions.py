"""What a person does on the page, for the tests."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from likewise.constraints.question import Question
from likewise.workspace.workspace import Workspace


def right_key(page: Page) -> str:
    """Return the key for the question on the page, whose pictures' names tell it."""
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
    """Press a key as soon as a person could, and wait for the next question."""
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
    """Say that pictures are alike, and doubt it, as training may."""
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
    """Answer requests in the server's place; return when the browser really lets us.

    Chromium may send the first request after `page.route` past it; so we knock until we answer.
    """
    page.route("**/knock", lambda route: route.fulfill(status=299))
    page.route(pattern, handler, times=times or None)
    knock = "fetch('/knock').then((reply) => reply.status, () => 0)"
    for _ in range(400):
        if page.evaluate(knock) == 299:
            return
        page.wait_for_timeout(50)
    raise AssertionError("requests still go past us after 20 s")


def drag(page: Page, source: str, target: str) -> None:
    """Drag as a hand does: over the page as it stays, by small steps."""
    page.locator(target).first.wait_for()
    wait_for_pictures(page)
    page.drag_and_drop(source, target, steps=8)


def wait_for_pictures(page: Page) -> None:
    """Return when every picture is there, so that nothing moves any more."""
    for _ in range(400):
        if page.evaluate("[...document.images].every((image) => image.complete)"):
            return
        page.wait_for_timeout(50)
    raise AssertionError("pictures are still missing after 20 s")
