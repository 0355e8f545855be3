"""Comparing, splitting off, second looks, keys of one's own, a large map, and bad days."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from likewise.constraints.question import Question
from likewise.session import Session, save_results
from likewise.workspace.workspace import Workspace
from tests.page.conftest import Open, intercept, served
from tests.page.test_page import answer
from tests.workspace.images import paint_folder

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


@pytest.fixture
def folder(session: Session) -> Path:
    assert session.root is not None
    return session.root


def test_chosen_pictures_are_split_off_and_named_at_once(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    for number in (0, 2):
        page.locator(f"[data-id='{number}']").first.focus()
        page.keyboard.press("Enter")
    page.locator("#split").focus()
    page.keyboard.press("Enter")
    expect(page.locator("section[data-key=g3] .tile")).to_have_count(2)
    page.keyboard.type("dusk")  # its name is selected, waiting to be written over
    page.keyboard.press("Enter")
    expect(page.locator("section[aria-label=dusk]")).to_be_visible()
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["g3", "g3"]


def test_two_ways_to_sort_are_seen_side_by_side(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("c")
    expect(page.locator("#view-compare")).to_contain_text("one way to sort only")
    workspace.session.add_criterion("halves", 2)
    chances = np.repeat([[0.9, 0.1], [0.2, 0.8]], 6, axis=0)
    save_results(workspace.session, "halves", chances, keys=("g1", "g2"), n_answers=1)
    page.keyboard.press("a")
    page.keyboard.press("c")
    expect(page.locator("table.compare td[data-n='3']")).to_have_count(4)
    expect(page.locator("table.compare .tile img")).to_have_count(12)
    expect(page.locator("#view-compare")).to_contain_text("next to nothing")


def test_a_doubtful_answer_is_offered_again(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    numbers = [
        workspace.criterion("colour").answer(Question.pair(0, other), "same").result.id
        for other in (1, 2, 4)
    ]
    suspects = [{"answer": n, "image": 0, "probability": 0.9, "evidence": [n]} for n in numbers[:2]]
    page = open_page(address)
    workspace._receive(
        {"event": "trained", "criterion": "colour", "n_answers": 3, "label_issues": suspects}
    )
    again = page.locator(".again")
    expect(again).to_contain_text("Look again: you said same")
    again.get_by_role("button", name="Take it back").click()
    expect(again).to_have_attribute("data-id", str(numbers[1]))
    again.get_by_role("button", name="It is right").click()
    expect(again).to_have_count(0)
    assert [entry.id for entry in workspace.session.answers("colour")] == numbers[1:]
    assert workspace.session.confirmed("colour") == {numbers[1]: (0,)}
    page.keyboard.press("u")
    expect(again).to_have_attribute("data-id", str(numbers[1]))
    assert workspace.session.confirmed("colour") == {}


def test_the_likely_slip_is_marked_in_a_contradiction(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 10), (10, 11)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "same")
    workspace.criterion("colour").answer(Question.pair(0, 11), "different")
    page = open_page(address)
    expect(page.locator(".settle li.likely")).to_have_attribute("data-id", "2")
    expect(page.locator(".settle button.first")).to_have_count(1)


def test_keys_are_changed_kept_in_this_browser_and_put_back(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    page = open_page(address)
    page.keyboard.press("?")
    page.locator("[data-action=same]").click()
    page.keyboard.press("j")
    expect(page.locator("dl.keys")).to_contain_text("J")
    page.locator("[data-action=different]").click()
    page.keyboard.press("j")
    expect(page.locator("#dialog-help .badge")).to_contain_text('J is already "same"')
    page.keyboard.press("Escape")
    expect(page.locator("[data-answer=same] kbd")).to_have_text("J")
    page.reload()
    page.wait_for_selector("[data-answer=same]")
    page.keyboard.press("s")  # means nothing now
    answer(page, "j")
    assert [entry.answer for entry in workspace.session.answers("colour")] == ["same"]
    page.keyboard.press("?")
    page.get_by_role("button", name="Usual keys").click()
    page.keyboard.press("Escape")
    answer(page, "s")
    assert len(workspace.session.answers("colour")) == 2


def test_answers_without_a_place_are_listed_with_the_answers(
    address: str, open_page: Open, workspace: Workspace
) -> None:
    for pair in [(0, 1), (0, 2), (1, 2)]:
        workspace.criterion("colour").answer(Question.pair(*pair), "different")
    page = open_page(address)
    page.keyboard.press("l")
    without_place = page.get_by_label("Answers that the groups do not honour")
    expect(without_place).to_be_visible()
    expect(without_place).to_contain_text("1 answer")


def test_pictures_are_sorted_into_folders_from_the_page(
    address: str, open_page: Open, folder: Path
) -> None:
    page = open_page(address)
    page.locator("#export summary").click()
    page.get_by_label("How pictures come into folders").select_option("symlink")
    page.locator("#into-folders").click()
    expect(page.locator(".said")).to_contain_text("12 pictures sorted into")
    assert (folder.with_name("photos by colour") / "group 1" / "00red.png").is_symlink()


def test_new_pictures_and_lost_ones_are_found_while_the_page_is_open(
    address: str, open_page: Open, folder: Path, tmp_path: Path
) -> None:
    page = open_page(address)
    page.keyboard.press("g")
    expect(page.locator("section[data-key=g1] .tile")).to_have_count(6)
    shutil.copy(paint_folder(tmp_path / "extra", 13) / "12red.png", folder)
    (folder / "00red.png").unlink()
    page.locator("#export summary").click()
    page.locator("#rescan").click()
    expect(page.locator("#news")).to_have_text("In the folder: 1 new picture, 1 picture gone.")
    expect(page.locator("section[aria-label=New] .tile")).to_have_count(1)
    expect(page.locator("#tally")).to_contain_text("12 pictures, 1 gone")


def test_a_folder_that_vanishes_is_said_and_answers_go_on(
    address: str, open_page: Open, folder: Path, workspace: Workspace
) -> None:
    page = open_page(address)
    folder.rename(folder.with_name("away"))
    answer(page, "s")
    assert len(workspace.session.answers("colour")) == 1
    page.locator("#export summary").click()
    page.locator("#rescan").click()
    expect(page.locator("#trouble")).to_contain_text("The pictures cannot be reached")
    folder.with_name("away").rename(folder)
    workspace.rescan()
    expect(page.locator("#trouble")).to_be_hidden()


def test_a_picture_that_breaks_is_said_and_the_question_can_be_answered(
    address: str, open_page: Open, folder: Path, workspace: Workspace
) -> None:
    workspace.criterion("colour").queue.fill([Question.pair(0, 2)])
    (folder / "00red.png").write_bytes(b"no picture")
    page = open_page(address)
    expect(page.locator(".picture img.gone")).to_have_attribute(
        "alt", re.compile("cannot be shown")
    )
    answer(page, "x")
    assert workspace.session.answers("colour")[0].answer == "bad_image"


def test_a_browser_that_reconnects_goes_on_with_what_another_server_kept(
    session: Session, open_page: Open
) -> None:
    path = session.path
    with Workspace(session, has_worker=False) as workspace, served(workspace) as address:
        page = open_page(address)
        answer(page, "s")
        port = int(re.findall(r":(\d+)/", address)[0])
    expect(page.locator("#trouble")).to_contain_text("connection is lost")
    held: list[Route] = []
    intercept(page, "**/api/questions*", lambda route: _hold(route, held))
    with Workspace(Session.open(path), has_worker=False) as workspace, served(workspace, port):
        expect(page.locator("#trouble")).to_be_hidden(timeout=20_000)
        expect(page.locator("#tally")).to_contain_text("1 answer")
        page.keyboard.press("d")  # at once, and once: the question on the screen is meant
        expect(page.locator("#tally")).to_contain_text("2 answers")
        said = [entry.answer for entry in workspace.session.answers("colour")]
        assert said == ["same", "different"]
        for route in held:
            route.continue_()


def _hold(route: Route, held: list[Route]) -> None:
    """Let the question that is fetched anew take long."""
    held.append(route)


def test_an_old_page_after_an_upgrade_says_to_reload(address: str, open_page: Open) -> None:
    page = open_page(address)
    expect(page.locator("#tally")).to_contain_text("0 answers")

    def upgraded(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "release": "99.0"})

    intercept(page, "**/api/status*", upgraded)
    answer(page, "s")
    expect(page.locator("#trouble")).to_contain_text("The program was upgraded; reload this page")


@pytest.fixture
def large_map(address: str, open_page: Open) -> Page:
    """A page whose map has 100,000 points."""
    page = open_page(address)
    rng = np.random.default_rng(0)
    n = 100_000
    points = rng.normal(5_000, 1_500, size=(n, 2)).clip(0, 10_000).astype(int)
    body = {
        "scale": 10_000,
        "ids": list(range(n)),
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "group": rng.integers(2, size=n).tolist(),
        "groups": ["g1", "g2"],
    }
    intercept(page, "**/api/map*", lambda route: route.fulfill(json=body))
    page.click("#tab-map")
    page.wait_for_selector("canvas[data-ms]")
    return page


def test_a_map_of_100_000_points_follows_the_hand(large_map: Page) -> None:
    canvas = large_map.locator("#view-map canvas")
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    spent = []
    large_map.mouse.move(x, y)
    for step in range(10):
        large_map.mouse.wheel(0, -100 if step < 5 else 100)
        large_map.wait_for_timeout(50)
        spent.append(float(canvas.get_attribute("data-ms") or "inf"))
    # Milliseconds of one drawing, without a graphics card, on a machine that may be busy.
    assert min(spent) < 100, spent
    large_map.mouse.click(x, y)
    expect(large_map.locator("#view-map .card")).to_be_visible()
