"""Images in a terminal: the test decodes the output of each protocol."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from likewise.cli.terminal_images import (
    PROTOCOLS,
    ImageViewer,
    blocks,
    iterm,
    kitty,
    montage,
    protocol_in_environment,
    sixel,
)
from likewise.constraints.question import Question
from likewise.errors import ImageError, UnknownNameError


@pytest.fixture
def sheet() -> Image.Image:
    """A red and a blue half, 8 by 12."""
    pixels = np.zeros((12, 8, 3), dtype=np.uint8)
    pixels[:, :4], pixels[:, 4:] = (255, 0, 0), (0, 0, 255)
    return Image.fromarray(pixels)


def png(content: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


def test_kitty_output_is_a_png_in_chunks(sheet: Image.Image) -> None:
    noise = Image.effect_noise((90, 90), 80).convert("RGB")
    for picture in (sheet, noise):
        pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", kitty(picture))
        assert pieces[0][0].startswith("a=T,f=100,m=")
        assert [about[-1] for about, _ in pieces] == ["1"] * (len(pieces) - 1) + ["0"]
        assert all(len(piece) <= 4096 for _, piece in pieces)
        np.testing.assert_array_equal(png("".join(p for _, p in pieces)), np.asarray(picture))


def test_iterm_output_is_an_inline_png(sheet: Image.Image) -> None:
    found = re.fullmatch(
        r"\x1b\]1337;File=inline=1;size=(\d+);[^:]*:([^\x07]*)\x07\n", iterm(sheet)
    )
    assert found is not None
    assert len(base64.b64decode(found[2])) == int(found[1])
    np.testing.assert_array_equal(png(found[2]), np.asarray(sheet))


def test_sixels_contain_every_pixel(sheet: Image.Image) -> None:
    found = re.fullmatch(r'\x1bPq"1;1;8;12((?:#\d+;2;\d+;\d+;\d+)+)(.*)\x1b\\\n', sixel(sheet))
    assert found is not None
    colours = {
        int(i): tuple(255 * int(part) // 100 for part in (r, g, b))
        for i, r, g, b in re.findall(r"#(\d+);2;(\d+);(\d+);(\d+)", found[1])
    }
    pixels = np.zeros((12, 8, 3), dtype=int)
    for band, text in enumerate(found[2].split("-")):
        for line in text.split("$"):
            number, bits = re.fullmatch(r"#(\d+)([?-~]+)", line).groups()  # type: ignore[union-attr]  # it must match
            for x, char in enumerate(bits):
                for y in range(6):
                    if (ord(char) - 63) >> y & 1:
                        pixels[6 * band + y, x] = colours[int(number)]
    np.testing.assert_array_equal(pixels, np.asarray(sheet))


def test_blocks_show_two_pixels_with_one_character(sheet: Image.Image) -> None:
    lines = blocks(sheet).splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("\x1b[38;2;255;0;0;48;2;255;0;0m▀")
    assert lines[0].endswith("\x1b[38;2;0;0;255;48;2;0;0;255m▀\x1b[0m")
    assert lines[0].count("▀") == 8


@pytest.mark.parametrize(
    ("environment", "protocol"),
    [
        ({"TERM": "xterm-ghostty"}, "kitty"),
        ({"TERM": "xterm", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "screen", "LC_TERMINAL": "iTerm2"}, "iterm"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "screen-256color"}, "blocks"),
        ({}, "open"),
    ],
)
def test_the_protocol_depends_on_the_environment(
    environment: dict[str, str], protocol: str
) -> None:
    assert protocol_in_environment(environment, True) == protocol
    assert protocol_in_environment(environment, False) == "names"


def test_a_montage_has_all_images_in_a_row_and_a_grey_square_for_a_missing_one() -> None:
    out = io.BytesIO()
    Image.new("RGB", (20, 10), (0, 255, 0)).save(out, "webp", lossless=True)
    sheet = np.asarray(montage([out.getvalue(), None], 20))
    assert sheet.shape == (20, 40 + 1 + 20, 3)
    assert sheet[10, 20].tolist() == [0, 255, 0]
    assert sheet[10, 60].tolist() == [128, 128, 128]


def test_images_are_drawn_opened_or_not_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def thumbnail(image: int) -> bytes:
        raise ImageError("'a.png' does not exist; check its name.")

    opened: list[str] = []

    def no_browser(address: str) -> bool:
        opened.append(address)
        return False

    monkeypatch.setattr("webbrowser.open", no_browser)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    written: list[str] = []
    for protocol in ("blocks", "names", "open"):
        show = ImageViewer(thumbnail, protocol, written.append)
        show(Question.pair(0, 1))
        assert len(list(tmp_path.iterdir())) == (protocol == "open")
        show.close()
    assert "▀" in written[0]
    assert opened[0].startswith("file://")
    assert written[1].startswith("(the images are in")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UnknownNameError, match="did you mean 'sixel'"):
        ImageViewer(thumbnail, "sixl")
    assert PROTOCOLS[0] == "auto"
