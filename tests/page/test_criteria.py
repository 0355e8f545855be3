"""Adding, switching and comparing criteria."""

import numpy as np
import pytest
from playwright.sync_api import expect

from likewise.session import save_results
from likewise.workspace.workspace import Workspace
from tests.page.actions import answer
from tests.page.conftest import Open

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def test_a_criterion_is_added_and_another_selected(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.click("#add-criterion")
    page.keyboard.type("in or out of doors")
    page.locator("#criterion-n").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Same group: in or out of doors?")
    answer(page, "d")
    page.locator("#criterion").select_option("colour")
    expect(page.locator("h1")).to_have_text("Same colour?")
    expect(page.locator("#counts")).to_contain_text("0 answers")
    assert len(workspace.session.answers("in or out of doors")) == 1


def test_two_criteria_are_compared_in_a_table(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("c")
    expect(page.locator("#view-compare")).to_contain_text("only one criterion")
    workspace.session.add_criterion("halves", 2)
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(workspace.session, "halves", chances, keys=("g1", "g2"), n_answers=1)
    page.keyboard.press("a")
    page.keyboard.press("c")
    expect(page.locator("table.compare td[data-n='3']")).to_have_count(4)
    expect(page.locator("table.compare .tile img")).to_have_count(12)
    expect(page.locator("#view-compare")).to_contain_text("nearly unrelated")


def test_a_criterion_needs_a_new_name(address: str, open_page: Open, workspace: Workspace) -> None:
    page = open_page(address)
    page.click("#add-criterion")
    dialog, problem = page.locator("#dialog-criterion"), page.locator("#problem")
    page.keyboard.type("   ")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Enter a criterion")
    page.keyboard.press("Control+a")
    page.keyboard.type("colour")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("colour")
    expect(dialog).to_be_visible()
    page.keyboard.press("Control+a")
    page.keyboard.type(" mood ")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("h1")).to_have_text("Same mood?")
    expect(problem).to_be_hidden()
    assert [one.name for one in workspace.session.criteria] == ["colour", "mood"]


def test_a_reload_keeps_the_criterion(address: str, open_page: Open, workspace: Workspace) -> None:
    workspace.add_criterion("mood", 2)
    page = open_page(address)
    page.locator("#criterion").select_option("mood")
    expect(page.locator("h1")).to_have_text("Same mood?")
    page.reload()
    expect(page.locator("h1")).to_have_text("Same mood?")
    expect(page.locator("#criterion")).to_have_value("mood")
    page.evaluate("sessionStorage.setItem('likewise-by', 'of another session')")
    page.reload()
    expect(page.locator("h1")).to_have_text("Same colour?")
