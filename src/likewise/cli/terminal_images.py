"""Show the images of a question in the terminal.

Own code rather than textual-image, which does not support iTerm2's inline images and queries the
terminal when it is imported.
"""

import base64
import io
import os
import re
import select
import shutil
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.constraints.question import Question
from likewise.errors import ImageError, UnknownNameError

_GAPS = 32  # as many gaps between two pictures make a height
_GREY = (128, 128, 128)


def montage(pictures: Sequence[bytes | None], height: int) -> Image.Image:
    """Return pictures in a row, all of one height; what cannot be shown is a grey field.

    Examples
    --------
    >>> montage([None, None], 10).size
    (21, 10)
    """
    shown = [_scaled(content, height) for content in pictures]
    gap = max(1, height // _GAPS)
    width = sum(one.width for one in shown) + gap * (len(shown) - 1)
    sheet = Image.new("RGB", (max(width, 1), height))
    left = 0
    for one in shown:
        sheet.paste(one, (left, 0))
        left += one.width + gap
    return sheet


def _scaled(content: bytes | None, height: int) -> Image.Image:
    if content is None:
        return Image.new("RGB", (height, height), _GREY)
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    width = max(1, round(picture.width * height / picture.height))
    return picture.resize((min(width, 3 * height), height))


_KITTY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
_WHAT = "\x1b[c"
_ANSWER = re.compile(rb"\x1b\[\?([0-9;]*)c")


def asked(wait: float = 0.5) -> str | None:
    """Return ``kitty`` or ``sixel`` if the terminal says that it draws so, else None.

    Parameters
    ----------
    wait : float
        Seconds to wait for an answer that does not come.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return None
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard, termios.TCSANOW)  # no echo, and no waiting for the end of a line
        os.write(sys.stdout.fileno(), (_KITTY + _WHAT).encode())
        return understood(_received(keyboard, wait))
    except OSError:
        return None
    finally:
        with suppress(termios.error):
            termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)  # a late answer is no key


def understood(answer: bytes) -> str | None:
    r"""Return what an answer says the terminal draws.

    Examples
    --------
    >>> understood(b"\x1b[?63;4;6c"), understood(b"\x1b_Gi=31;OK\x1b\\\x1b[?62c")
    ('sixel', 'kitty')
    >>> understood(b"\x1b[?62;22c") is None
    True
    """
    if b"\x1b_Gi=31;OK" in answer:
        return "kitty"
    told = _ANSWER.search(answer)
    return "sixel" if told and b"4" in told[1].split(b";")[1:] else None


def _received(keyboard: int, wait: float) -> bytes:
    """Return what comes until the answer that every terminal gives, or until time is up."""
    answer, end = b"", time.monotonic() + wait
    while not _ANSWER.search(answer):
        left = end - time.monotonic()
        if left <= 0 or not select.select([keyboard], [], [], left)[0]:
            break
        piece = os.read(keyboard, 1024)
        if not piece:
            break
        answer += piece
    return answer


WAYS = ("auto", "kitty", "iterm", "sixel", "blocks", "open", "names")
_KITTY_TERMS = ("kitty", "ghostty")
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
    if "KITTY_WINDOW_ID" in environment or any(name in term for name in _KITTY_TERMS):
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


_HEIGHT, _BLOCKS = 256, 40  # pixels of a sheet; of one made of blocks


class ImageViewer:
    """Draws the pictures of a question in the terminal, or opens them beside it.

    Parameters
    ----------
    thumbnail : callable
        Gives a picture as an image file.
    way : str
        One of `WAYS`; ``auto`` goes by the name of the terminal, or asks it.
    write : callable
        Takes text for the terminal.
    """

    def __init__(
        self,
        thumbnail: Callable[[int], bytes],
        way: str = "auto",
        write: Callable[[str], object] = sys.stdout.write,
    ) -> None:
        if way not in WAYS:
            raise UnknownNameError("way to show pictures", way, WAYS)
        self._thumbnail, self._write = thumbnail, write
        self._way = _best_way() if way == "auto" else way
        self._file = Path(tempfile.gettempdir()) / f"likewise-question-{os.getpid()}.png"

    def __call__(self, question: Question) -> None:
        """Show one question; the first picture is the one that is asked about."""
        if self.is_blind:
            return
        height = _BLOCKS if self._way == "blocks" else _HEIGHT
        sheet = montage([self._picture(image) for image in question.images], height)
        if self._way in DRAWN:
            self._write(drawn(sheet, self._way))
            return
        sheet.save(self._file)
        if not webbrowser.open(self._file.as_uri()):
            self._write(f"(the pictures are in {self._file})\n")

    @property
    def is_blind(self) -> bool:
        """Whether a person sees names only, and needs whole paths to open the files."""
        return self._way == "names"

    def close(self) -> None:
        """Leave nothing behind."""
        self._file.unlink(missing_ok=True)

    def _picture(self, image: int) -> bytes | None:
        try:
            return self._thumbnail(image)
        except ImageError:
            return None


def _best_way() -> str:
    way = way_of(os.environ, sys.stdout.isatty())
    return (asked() or way) if way == "blocks" else way
