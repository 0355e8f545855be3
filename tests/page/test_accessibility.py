"""Accessibility: axe-core finds nothing in any view, in both themes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from likewise.constraints.question import Question
from likewise.server.app import create_start_app
from likewise.server.launcher import Launcher, remember_session
from likewise.session import Session, save_results
from likewise.workspace.workspace import Workspace
from tests.page.actions import add_label_issues
from tests.page.conftest import TOKEN, Open, served, served_app
from tests.page.test_new_groups import show_accuracy, show_grid
from tests.workspace.images import make_session, paint_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]
Themes = pytest.mark.parametrize("theme", ["light", "dark"])


def problems(page: Page, name: str) -> list[str]:
    """Return what axe-core finds on a page, with the first element concerned."""
    page.wait_for_timeout(200)
    found = Axe().run(page).response["violations"]
    return [f"{name}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@Themes
def test_every_view_is_accessible(theme: str, session: Session, open_page: Open) -> None:
    session.add_criterion("halves", 2)
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(session, "halves", chances, keys=("g1", "g2"), n_answers=1)
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        colour = workspace.criterion("colour")
        for other in (2, 4):
            colour.answer(Question.pair(0, other), "same")
        colour.queue.fill([Question.pair(3, 6)])
        page = open_page(address, color_scheme=theme, is_introduced=False)
        found = problems(page, "a pair, the introduction and a name")
        page.locator("#intro-skip").click()
        page.keyboard.press("n")
        found += problems(page, "a new group")
        page.keyboard.press("Escape")
        for key, name in {"g": "groups", "m": "map", "l": "answers", "c": "compare"}.items():
            page.keyboard.press(key)
            page.wait_for_timeout(300)
            found += problems(page, name)
        page.keyboard.press("g")
        page.locator(".tile:not([hidden])").first.click()
        found += problems(page, "selected pictures")
        page.keyboard.press("2")
        page.wait_for_selector(".toast")
        found += problems(page, "a message")
        page.locator(".check-group").first.click()
        page.locator("#dialog-review .tile").first.click()
        found += problems(page, "a group is checked")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        steps: dict[str, Callable[[], object]] = {
            "keys and help": lambda: page.keyboard.press("?"),
            "a new criterion": lambda: page.click("#add-criterion"),
            "the criterion": lambda: page.click("#change-criterion"),
            "an enlarged picture": lambda: page.keyboard.press("z"),
            "phone and sharing": lambda: page.click("#share"),
        }
        for name, act in steps.items():
            act()
            found += problems(page, name)
            page.keyboard.press("Escape")
        page.locator("#export > summary").click()
        found += problems(page, "export")
    assert found == []


@Themes
def test_every_kind_of_question_and_review_is_accessible(
    theme: str, address: str, open_page: Open, workspace: Workspace
) -> None:
    colour = workspace.criterion("colour")
    colour.queue.fill([Question.choice(i, (0, 1), ("a", "b")) for i in (4, 5)])
    page = open_page(address, color_scheme=theme)
    found = problems(page, "a choice")
    show_accuracy(page, 0.97, 0.95, 0.99)
    page.wait_for_selector(".reached")
    found += problems(page, "the goal is reached")
    show_grid(page, list(range(1, 11)))
    page.locator(".grid .tile").first.click()
    found += problems(page, "a grid")
    add_label_issues(workspace, (0, 1))
    page.wait_for_selector(".label-issue")
    found += problems(page, "an answer to check")
    for pair, answer in (((2, 4), "same"), ((4, 6), "same"), ((2, 6), "different")):
        colour.answer(Question.pair(*pair), answer)
    page.wait_for_selector(".review:not(.label-issue)")
    found += problems(page, "answers that contradict each other")
    assert found == []


@Themes
def test_the_start_page_and_the_first_criterion_are_accessible(
    theme: str, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    make_session(paint_folder(tmp_path / "photos")).close()
    remember_session(tmp_path / "photos.likewise")
    with served_app(create_start_app(Launcher([tmp_path]), TOKEN)) as address:
        page = open_page(address, color_scheme=theme)
        page.wait_for_selector(".card")
        found = problems(page, "start")
    session = Session.open(tmp_path / "photos.likewise")
    session._database.rows("DELETE FROM criterion")
    session._criteria._cached = None
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address, color_scheme=theme, is_introduced=False)
        page.wait_for_timeout(500)  # events arrive, before there is a criterion
        expect(page.locator("#problem")).to_be_hidden()
        found += problems(page, "the first criterion")
    assert found == []
