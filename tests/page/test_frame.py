"""The frame of the page: theme, language and toasts."""

import pytest
from playwright.sync_api import expect

from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]

TOAST = """async () => {
  const { toast } = await import("/page/toast.js");
  toast("Moved 5 to Sketch", { undo: () => { window.undone = (window.undone ?? 0) + 1; } });
}"""


def test_the_theme_is_switched_and_kept(address: str, open_page: Open) -> None:
    page = open_page(address)
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.click("#theme")
    dark = page.evaluate(colour)
    assert light != dark
    page.reload()
    page.wait_for_selector("#view-ask h1")
    assert page.evaluate(colour) == dark
    page.emulate_media(color_scheme="dark")
    page.click("#theme")
    assert page.evaluate(colour) == light


def test_a_toast_undoes_once_and_closes(address: str, open_page: Open) -> None:
    page = open_page(address)
    page.evaluate(TOAST)
    toast = page.locator("#toasts[role=status] .toast")
    expect(toast).to_contain_text("Moved 5 to Sketch")
    toast.get_by_role("button", name="Undo").click()
    expect(toast).to_have_count(0)
    assert page.evaluate("window.undone") == 1
    page.evaluate(TOAST)
    page.evaluate(TOAST)
    expect(toast).to_have_count(1)
    toast.get_by_role("button", name="Close").click()
    expect(toast).to_have_count(0)


@pytest.mark.parametrize(("language", "text"), [("de", "Rückgängig"), ("zh", "撤销")])
def test_the_language_of_the_browser_is_used(
    address: str, open_page: Open, language: str, text: str
) -> None:
    page = open_page(address, locale=language)
    assert page.evaluate("document.documentElement.lang") == language
    page.evaluate(TOAST)
    expect(page.locator("#toast-undo")).to_have_text(text)
