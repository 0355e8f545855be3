"""Pictures in a terminal: in the protocol it knows, as coloured blocks, or opened beside it.

Protocols: kitty's graphics, iTerm2's inline images, sixel (DEC, 1983). Which one a terminal
knows is told by the environment it sets, else the terminal is asked (`terminal_query.py`);
`--pictures` overrules that.
"""

import base64
import io
import shutil
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from PIL import Image

WAYS = ("auto", "kitty", "iterm", "sixel", "blocks", "open", "names")
_KITTY = ("kitty", "ghostty")
_ITERM = ("iTerm.app", "WezTerm", "mintty", "vscode")
_SIXEL = ("foot", "mlterm", "sixel", "contour", "yaft")
_CHUNK = 4096  # bytes of a piece of kitty's protocol
_COLOURS = 255  # of a sixel picture
_UPPER = "▀"


def way_of(environment: Mapping[str, str], is_terminal: bool) -> str:
    """Return how a terminal shows pictures, by what it says of itself.

    Examples
    --------
    >>> way_of({"TERM": "xterm-kitty"}, True), way_of({"TERM": "xterm-256color"}, True)
    ('kitty', 'blocks')
    >>> way_of({"TERM": "dumb"}, True), way_of({"TERM": "xterm-kitty"}, False)
    ('open', 'names')
    """
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if not is_terminal:
        return "names"
    if "KITTY_WINDOW_ID" in environment or any(name in term for name in _KITTY):
        return "kitty"
    if program in _ITERM or environment.get("LC_TERMINAL") == "iTerm2":
        return "iterm"
    if any(name in term for name in _SIXEL):
        return "sixel"
    return "open" if term in ("", "dumb", "linux", "vt100") else "blocks"


def drawn(sheet: Image.Image, way: str) -> str:
    """Return what to write so that a terminal shows a picture in one of the ways that draw."""
    return DRAWN[way](sheet)


def kitty(sheet: Image.Image) -> str:
    """Return a picture in kitty's protocol: PNG in pieces of base64."""
    content = base64.standard_b64encode(_png(sheet)).decode()
    pieces = [content[i : i + _CHUNK] for i in range(0, len(content), _CHUNK)]
    written = []
    for number, piece in enumerate(pieces):
        first = "a=T,f=100," if number == 0 else ""
        more = int(number < len(pieces) - 1)
        written.append(f"\x1b_G{first}m={more};{piece}\x1b\\")
    return "".join(written) + "\n"


def iterm(sheet: Image.Image) -> str:
    """Return a picture in iTerm2's protocol."""
    content = _png(sheet)
    about = f"inline=1;size={len(content)};width={sheet.width}px;height={sheet.height}px"
    return f"\x1b]1337;File={about}:{base64.standard_b64encode(content).decode()}\x07\n"


def sixel(sheet: Image.Image) -> str:
    """Return a picture as sixels: rows of six pixels, one colour after the other."""
    few = sheet.quantize(_COLOURS)
    palette = (few.getpalette() or [])[: 3 * _COLOURS]
    triples = np.array(palette).reshape(-1, 3) * 100 // 255
    colours = "".join(f"#{i};2;{r};{g};{b}" for i, (r, g, b) in enumerate(triples.tolist()))
    pixels = np.asarray(few)
    bands = (pixels[top : top + 6] for top in range(0, len(pixels), 6))
    body = "-".join("$".join(_band(band)) for band in bands)
    return f'\x1bPq"1;1;{sheet.width};{sheet.height}{colours}{body}\x1b\\\n'


def _band(band: npt.NDArray[np.uint8]) -> list[str]:
    """Return one line of sixels for each colour in six rows of pixels."""
    weights = (1 << np.arange(len(band)))[:, None]
    lines = []
    for colour in np.unique(band).tolist():
        bits = ((band == colour) * weights).sum(axis=0)
        lines.append(f"#{colour}" + "".join(chr(63 + bit) for bit in bits.tolist()))
    return lines


def blocks(sheet: Image.Image) -> str:
    """Return a picture as half blocks, two pixels a character, in 24-bit colours."""
    columns = min(sheet.width, shutil.get_terminal_size((80, 24)).columns - 1)
    rows = max(2, 2 * round(columns * sheet.height / sheet.width / 2))
    pixels = np.asarray(sheet.resize((columns, rows)))
    lines = [
        "".join(
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]};48;2;{b[0]};{b[1]};{b[2]}m{_UPPER}"
            for a, b in zip(upper.tolist(), lower.tolist(), strict=True)
        )
        for upper, lower in zip(pixels[::2], pixels[1::2], strict=True)
    ]
    return "".join(f"{line}\x1b[0m\n" for line in lines)


def _png(sheet: Image.Image) -> bytes:
    out = io.BytesIO()
    sheet.save(out, "png")
    return out.getvalue()


DRAWN: dict[str, Callable[[Image.Image], str]] = {
    "kitty": kitty,
    "iterm": iterm,
    "sixel": sixel,
    "blocks": blocks,
}
