"""Sets from Debian's packages: built from a small tree laid out as theirs."""

import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageFont

from benchmarks.analysis import debian_datasets as elsewhere
from likewise.errors import DatasetError
from likewise_bench.datasets import load_dataset


def _paint(path: Path, colour: str, size: tuple[int, int] = (32, 32)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGBA", size, colour).save(path)


@pytest.fixture
def share(tmp_path: Path) -> Path:
    """Return a tree as packages leave it below usr/share."""
    share = tmp_path / "usr/share"
    wine, stamps = share / "icons/gnome-wine/32x32", share / "tuxpaint/stamps"
    _paint(wine / "places/folder.png", "red")
    (wine / "places/home.png").symlink_to("folder.png")  # themes have many names for one icon
    _paint(share / "icons/gnome-wise/32x32/actions/go.png", "green")
    _paint(share / "icons/Tango/32x32/apps/mail.png", "blue")
    for number in range(80):
        _paint(share / f"icons/Faenza/devices/48/{number}.png", "grey")
    _paint(stamps / "animals/cartoon/cat.png", "black", (200, 50))
    _paint(stamps / "food/pear.png", "yellow")
    _paint(stamps / "food/pear_mirror.png", "yellow")
    _paint(stamps / "space/moon.png", "white")
    return share


def test_icons_are_labelled_by_theme_and_folder_without_duplicates(share: Path) -> None:
    assert [labels for _, labels in elsewhere.tints(share)] == [
        ("wine", "places"),
        ("wise", "actions"),
    ]
    found = [labels for _, labels in elsewhere.icons(share)]
    assert found.count(("faenza", "devices")) == 70
    assert ("tango", "apps") in found


def test_stamps_are_complete_on_white_and_not_mirrored(share: Path) -> None:
    drawn = list(elsewhere.stamps(share))
    assert [labels for _, labels in drawn] == [("animals", "cartoon"), ("food", "photo")]
    cat = drawn[0][0]
    assert cat.size == (96, 96)
    assert cat.getpixel((48, 10)) == (255, 255, 255)
    assert cat.getpixel((2, 48)) == (0, 0, 0)  # as wide as the square


def test_letters_are_labelled_by_the_names_of_their_fonts(share: Path) -> None:
    fonts = sorted(Path("/usr/share/fonts").rglob("DejaVuSans*.ttf"))
    if not fonts:
        pytest.skip("no DejaVu fonts on this machine (Debian: fonts-dejavu-core)")
    for name in ("FreeSerifBoldItalic", "LiberationMono-Regular", "DejaVuSansCondensed", "Other"):
        shutil.copy(fonts[0], share / f"{name}.ttf")
    found = {labels for _, labels in elsewhere.glyphs(share)}
    assert found == {("serif", "slanted", "bold"), ("mono", "upright", "plain")}


def test_a_built_data_set_can_be_loaded_by_name(
    share: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "SETS", {"tints": elsewhere.SETS["tints"]})
    assert list(elsewhere.build(share, tmp_path / "sets")) == [("tints", 2)]
    loaded = load_dataset("tints", tmp_path / "sets")
    assert loaded.labels("colour").tolist() == ["wine", "wise"]
    assert loaded.labels("context").tolist() == ["places", "actions"]


def test_people_need_the_emoji_font(share: Path) -> None:
    with pytest.raises(
        DatasetError, match=r"NotoColorEmoji\.ttf is not among the unpacked packages"
    ):
        next(iter(elsewhere.people(share)))


def test_people_have_a_gender_and_a_tone(share: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (share / "NotoColorEmoji.ttf").touch()
    plain = ImageFont.load_default(109)
    monkeypatch.setattr(ImageFont, "truetype", lambda *_: plain)
    found = [labels for _, labels in elsewhere.people(share)]
    assert len(found) == 16 * 3 * 5 + 25 * 2 * 5
    assert {gender for gender, _ in found} == {"man", "woman", "person"}
    assert [tone for _, tone in found[:5]] == ["light", "light", "middle", "dark", "dark"]


def test_without_apt_an_error_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DatasetError, match=r"need Debian packages; apt-get and dpkg-deb"):
        elsewhere.fetch(tmp_path)


def test_an_unavailable_package_gives_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: subprocess.CompletedProcess[str] = subprocess.CompletedProcess([], 100)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(DatasetError, match="run `apt-get update` and try again"):
        elsewhere.fetch(tmp_path)
