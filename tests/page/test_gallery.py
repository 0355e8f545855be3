"""The gallery: continuous scrolling, selection, orders, filters and search, with 180 pictures."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from likewise.workspace.workspace import Workspace
from tests.page.actions import drag, intercept, wait_for_pictures
from tests.page.conftest import Open, served
from tests.workspace.images import make_session, paint_folder, save_half_results

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]
N = 180
SCROLLER = "#view-groups .scroller"


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paint_folder(tmp_path_factory.mktemp("gallery") / "photos", N)


@pytest.fixture
def workspace(photos: Path, tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "photos").symlink_to(photos)
    session = make_session(tmp_path / "photos")
    save_half_results(session, n_answers=3, low=0.5)
    with Workspace(session, has_worker=False) as workspace:
        yield workspace


@pytest.fixture
def gallery(workspace: Workspace, open_page: Open) -> Iterator[Page]:
    with served(workspace) as address:
        page = open_page(address)
        page.keyboard.press("g")
        tiles(page).first.wait_for()
        yield page


def tiles(page: Page) -> Locator:
    return page.locator(f"{SCROLLER} .tile:not([hidden])")


def scroll_to(page: Page, top: int) -> None:
    """Scroll, and wait for the frames in which the event comes and the tiles are placed."""
    page.locator(SCROLLER).evaluate(
        """async (element, top) => {
          element.scrollTop = top;
          for (let i = 0; i < 4; i += 1) await new Promise(requestAnimationFrame);
        }""",
        top,
    )


def selected(page: Page) -> set[int]:
    found = page.locator(f"{SCROLLER} .tile:not([hidden])[aria-selected=true]").all()
    return {int(tile.get_attribute("data-id") or -1) for tile in found}


def first_ids(page: Page, n: int = 3) -> list[int]:
    """Return the first pictures of the first group, by their place on the screen."""
    ids: list[int] = page.locator(f"{SCROLLER} section").first.evaluate(
        """(section, n) => [...section.querySelectorAll(".tile:not([hidden])")]
        .sort((a, b) => a.ariaPosInSet - b.ariaPosInSet).slice(0, n).map((t) => +t.dataset.id)""",
        n,
    )
    return ids


def test_every_picture_is_reached_by_scrolling_and_few_tiles_exist(gallery: Page) -> None:
    seen: set[str] = set()
    height = gallery.locator(SCROLLER).evaluate("element => element.scrollHeight")
    for top in range(0, height, 400):
        scroll_to(gallery, top)
        seen |= {tile.get_attribute("data-id") or "" for tile in tiles(gallery).all()}
        assert gallery.locator(".tile").count() < 170
    assert len(seen) == N
    last = gallery.locator("section[data-group=g2] [aria-posinset='90'] img")
    expect(last).to_be_in_viewport()
    wait_for_pictures(gallery)
    assert last.evaluate("image => image.naturalWidth") > 0


def test_pictures_are_selected_as_in_a_photo_program(gallery: Page) -> None:
    first, second, third = first_ids(gallery)
    gallery.click(f"[data-id='{first}']")
    gallery.click(f"[data-id='{second}']")
    assert selected(gallery) == {second}
    gallery.click(f"[data-id='{first}']", modifiers=["ControlOrMeta"])
    assert selected(gallery) == {first, second}
    gallery.click(f"[data-id='{first}']")
    gallery.click(f"[data-id='{third}']", modifiers=["Shift"])
    assert selected(gallery) == {first, second, third}
    gallery.keyboard.press("Escape")
    assert selected(gallery) == set()
    gallery.keyboard.press("Control+a")
    expect(gallery.locator(".bar .selected")).to_contain_text(f"{N} pictures selected")
    gallery.keyboard.press("Escape")
    gallery.hover(f"[data-id='{second}']")
    gallery.click(f"[data-id='{second}'] .check")
    gallery.click(f"[data-id='{first}']", modifiers=["ControlOrMeta"])
    assert selected(gallery) == {first, second}


def test_arrow_keys_move_and_extend_and_enter_opens(gallery: Page, workspace: Workspace) -> None:
    first, second, third = first_ids(gallery)
    gallery.keyboard.press("ArrowRight")
    gallery.keyboard.press("ArrowRight")
    expect(gallery.locator(f"[data-id='{second}']")).to_have_class("tile cursor")
    gallery.keyboard.press("Shift+ArrowRight")
    assert selected(gallery) == {second, third}
    gallery.keyboard.press("Escape")
    gallery.keyboard.press("ArrowLeft")
    gallery.keyboard.press("ArrowLeft")
    gallery.keyboard.press("Enter")
    name = workspace.session.images.names[first]
    expect(gallery.locator("#dialog-zoom")).to_contain_text(name)
    gallery.keyboard.press("Escape")
    gallery.keyboard.press("2")  # moves the picture at the cursor; the next one follows
    expect(gallery.locator(f"[data-id='{second}']")).to_have_class("tile cursor")
    assert workspace.criterion("colour").status.gallery().group_key(first) == "g2"
    for _ in range(30):
        gallery.keyboard.press("ArrowDown")
    expect(gallery.locator(".tile.cursor")).to_be_in_viewport(ratio=1)
    assert len(gallery.locator(".tile.cursor").all()) == 1


def test_a_rubber_band_selects_what_it_touches_and_scrolls(gallery: Page) -> None:
    box = gallery.locator("section[data-group=g1] .tiles").bounding_box()
    last = gallery.locator(f"[data-id='{first_ids(gallery)[2]}']").bounding_box()
    assert box is not None
    assert last is not None
    gallery.mouse.move(box["x"] - 6, box["y"] - 3)
    gallery.mouse.down()
    gallery.mouse.move(last["x"] + 20, last["y"] + 20, steps=4)
    assert selected(gallery) == set(first_ids(gallery))
    gallery.mouse.move(last["x"] + 20, 790, steps=4)  # below: the gallery scrolls
    for _ in range(100):
        if gallery.locator(SCROLLER).evaluate("element => element.scrollTop") > 400:
            break
        gallery.wait_for_timeout(50)
    gallery.mouse.up()
    expect(gallery.locator(".band")).to_have_count(0)
    text = gallery.locator(".bar .selected b").inner_text()
    assert int(text.split()[0]) >= 15


def test_orders_filters_and_search(gallery: Page, workspace: Workspace) -> None:
    gallery.get_by_label("Order").select_option("name")
    expect(gallery.locator("[data-id='0']")).to_be_visible()
    assert first_ids(gallery) == [0, 2, 4]
    gallery.get_by_label("Order").select_option("unsure")
    gallery.get_by_label("Search by file name").fill("17 RED")
    expect(tiles(gallery)).to_have_count(5)
    gallery.get_by_label("Search by file name").fill("")
    workspace.criterion("colour").move_images([3, 5], "g1")
    gallery.get_by_label("Show", exact=True).select_option("placed")
    expect(tiles(gallery)).to_have_count(2)
    expect(gallery.locator(".tile:not([hidden]) .placed:not([hidden])")).to_have_count(2)
    gallery.get_by_label("Show", exact=True).select_option("unsure")
    below = workspace.criterion("colour").status.gallery()
    n = int(((below.confidence < 0.55) & ~below.answered).sum())
    gallery.get_by_label("Unsure below").fill("55")
    expect(gallery.locator("section[data-group=g2] header")).to_contain_text(" of 88")
    expect(tiles(gallery)).to_have_count(n)


def test_a_picture_dragged_out_of_the_unsure_ones_keeps_the_place(
    gallery: Page, workspace: Workspace
) -> None:
    shown = workspace.criterion("colour").status.gallery()
    n = int(((shown.confidence < 0.95) & ~shown.answered)[::2].sum())  # group 1 has the even ones
    gallery.get_by_label("Show", exact=True).select_option("unsure")
    gallery.get_by_label("Unsure below").fill("95")
    expect(gallery.locator("section[data-group=g1] header")).to_contain_text(f"{n} of 90")
    scroll_to(gallery, 500)
    wait_for_pictures(gallery)
    taken = gallery.evaluate("document.elementFromPoint(500, 500).closest('.tile').dataset.id")
    before = gallery.locator(SCROLLER).evaluate("element => element.scrollTop")
    drag(gallery, f"[data-id='{taken}']", ".chip[data-to=g2]")
    expect(gallery.locator("#toasts")).to_contain_text("Moved 1 to group 2")
    expect(gallery.locator(f"section[data-group=g1] [data-id='{taken}']")).to_have_count(0)
    after = gallery.locator(SCROLLER).evaluate("element => element.scrollTop")
    assert abs(after - before) < 150  # at most one row


def test_a_group_is_checked_with_one_answer_and_one_undo(
    gallery: Page, workspace: Workspace
) -> None:
    gallery.locator("section[data-group=g1] .check-group").click()
    review = gallery.locator("#dialog-review")
    expect(review).to_contain_text("Tick those that do NOT belong to group 1")
    shown = review.locator(".tile")
    first, second, *others = [int(one.get_attribute("data-id") or -1) for one in shown.all()]
    assert [first, second] == [0, 2]  # the least sure ones
    gallery.keyboard.press("Space")
    gallery.keyboard.press("ArrowRight")
    gallery.keyboard.press("Enter")  # for all
    expect(shown.first).not_to_have_attribute("data-id", "0")  # the next pictures
    (entry,) = workspace.session.answers("colour")
    assert (entry.kind, entry.answer) == ("grid", "ticked")
    current = workspace.criterion("colour").status.gallery()
    assert current.group_key(first) == "g2"
    assert current.placed[[second, *others]].all()
    gallery.keyboard.press("Escape")
    gallery.click("#toast-undo")
    expect(gallery.locator("#toasts")).to_contain_text("Undone")
    assert workspace.session.answers("colour") == []


def test_an_answer_to_a_grid_survives_a_lost_connection_and_is_stored_once(
    gallery: Page, workspace: Workspace
) -> None:
    gallery.locator("section[data-group=g1] .check-group").click()
    review = gallery.locator("#dialog-review")
    review.locator(".tile").nth(1).click()

    def lose_the_reply(route: Route) -> None:
        route.fetch()  # the server stores the answer
        route.abort()

    intercept(gallery, "**/api/answers", lose_the_reply, times=1)
    gallery.keyboard.press("Enter")
    expect(review.locator("#review-problem")).to_contain_text("does not respond")
    expect(review.locator(".tile[aria-pressed=true]")).to_have_count(1)
    gallery.keyboard.press("Enter")
    expect(review.locator(".tile[aria-pressed=true]")).to_have_count(0)
    (entry,) = workspace.session.answers("colour")
    assert entry.answer == "ticked"
