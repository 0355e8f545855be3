"""Draw images in a terminal, by the Kitty, iTerm or Sixel protocol or by coloured blocks.

Own code instead of textual-image, which does not support the protocol of iTerm2 and queries the
terminal when it is imported.
"""

import base64
import io
import os
import re
import shutil
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise import operating_system
from likewise.constraints.question import Question
from likewise.errors import ImageError, UnknownNameError

_GAPS = 32  # the height of a montage in gaps between two images
_GREY = (128, 128, 128)


def montage(images: Sequence[bytes | None], height: int) -> Image.Image:
    """Return images in a row, scaled to one height; a missing image is a grey square.

    Examples
    --------
    >>> montage([None, None], 10).size
    (21, 10)
    """
    scaled = [_scaled(content, height) for content in images]
    gap = max(1, height // _GAPS)
    width = sum(one.width for one in scaled) + gap * (len(scaled) - 1)
    sheet = Image.new("RGB", (max(width, 1), height))
    left = 0
    for one in scaled:
        sheet.paste(one, (left, 0))
        left += one.width + gap
    return sheet


def _scaled(content: bytes | None, height: int) -> Image.Image:
    if content is None:
        return Image.new("RGB", (height, height), _GREY)
    image = Image.open(io.BytesIO(content)).convert("RGB")
    width = max(1, round(image.width * height / image.height))
    return image.resize((min(width, 3 * height), height))


_KITTY_QUERY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
_ATTRIBUTES_QUERY = "\x1b[c"
_ATTRIBUTES_REPLY = re.compile(rb"\x1b\[\?([0-9;]*)c")


def query_terminal(timeout: float = 0.5) -> str | None:
    """Return ``kitty`` or ``sixel`` if the terminal reports support for it, else None.

    Parameters
    ----------
    timeout : float
        Seconds to wait for a reply.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    request = (_KITTY_QUERY + _ATTRIBUTES_QUERY).encode()
    try:
        reply = operating_system.query_terminal(request, _is_complete, timeout)
    except OSError:
        return None
    return protocol_in_reply(reply)


def protocol_in_reply(reply: bytes) -> str | None:
    r"""Return the image protocol that the reply of a terminal reports.

    Examples
    --------
    >>> protocol_in_reply(b"\x1b[?63;4;6c"), protocol_in_reply(b"\x1b_Gi=31;OK\x1b\\\x1b[?62c")
    ('sixel', 'kitty')
    >>> protocol_in_reply(b"\x1b[?62;22c") is None
    True
    """
    if b"\x1b_Gi=31;OK" in reply:
        return "kitty"
    attributes = _ATTRIBUTES_REPLY.search(reply)
    return "sixel" if attributes and b"4" in attributes[1].split(b";")[1:] else None


def _is_complete(reply: bytes) -> bool:
    """Return whether a reply contains the part that every terminal sends last."""
    return _ATTRIBUTES_REPLY.search(reply) is not None


PROTOCOLS = ("auto", "kitty", "iterm", "sixel", "blocks", "open", "names")
_KITTY_TERMS = ("kitty", "ghostty")
_ITERM = ("iTerm.app", "WezTerm", "mintty", "vscode")
_SIXEL = ("foot", "mlterm", "sixel", "contour", "yaft")
_CHUNK = 4096  # bytes of a chunk in kitty's protocol
_COLOURS = 255  # of a sixel image
_UPPER = "▀"


def protocol_in_environment(environment: Mapping[str, str], is_terminal: bool) -> str:
    """Return how to show images according to the environment variables of a terminal.

    Examples
    --------
    >>> protocol_in_environment({"TERM": "xterm-kitty"}, True)
    'kitty'
    >>> protocol_in_environment({"TERM": "dumb"}, True)
    'open'
    >>> protocol_in_environment({"TERM": "xterm-kitty"}, False)
    'names'
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


def kitty(sheet: Image.Image) -> str:
    """Return an image in kitty's protocol: PNG in chunks of base64."""
    content = base64.standard_b64encode(_png(sheet)).decode()
    pieces = [content[i : i + _CHUNK] for i in range(0, len(content), _CHUNK)]
    written = []
    for number, piece in enumerate(pieces):
        first = "a=T,f=100," if number == 0 else ""
        more = int(number < len(pieces) - 1)
        written.append(f"\x1b_G{first}m={more};{piece}\x1b\\")
    return "".join(written) + "\n"


def iterm(sheet: Image.Image) -> str:
    """Return an image in iTerm2's protocol."""
    content = _png(sheet)
    arguments = f"inline=1;size={len(content)};width={sheet.width}px;height={sheet.height}px"
    return f"\x1b]1337;File={arguments}:{base64.standard_b64encode(content).decode()}\x07\n"


def sixel(sheet: Image.Image) -> str:
    """Return an image as sixels: bands of six rows of pixels, one colour after another."""
    quantized = sheet.quantize(_COLOURS)
    palette = (quantized.getpalette() or [])[: 3 * _COLOURS]
    triples = np.array(palette).reshape(-1, 3) * 100 // 255
    colours = "".join(f"#{i};2;{r};{g};{b}" for i, (r, g, b) in enumerate(triples.tolist()))
    pixels = np.asarray(quantized)
    bands = (pixels[top : top + 6] for top in range(0, len(pixels), 6))
    body = "-".join("$".join(_band(band)) for band in bands)
    return f'\x1bPq"1;1;{sheet.width};{sheet.height}{colours}{body}\x1b\\\n'


def _band(band: npt.NDArray[np.uint8]) -> list[str]:
    """Return one line of sixels for each colour in a band of six rows."""
    weights = (1 << np.arange(len(band)))[:, None]
    lines = []
    for colour in np.unique(band).tolist():
        bits = ((band == colour) * weights).sum(axis=0)
        lines.append(f"#{colour}" + "".join(chr(63 + bit) for bit in bits.tolist()))
    return lines


def blocks(sheet: Image.Image) -> str:
    """Return an image as half blocks, two pixels for each character, in 24-bit colours."""
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


RENDERERS: dict[str, Callable[[Image.Image], str]] = {
    "kitty": kitty,
    "iterm": iterm,
    "sixel": sixel,
    "blocks": blocks,
}


_HEIGHT, _BLOCKS_HEIGHT = 256, 40  # of a montage in pixels; of one drawn as blocks
_N_PER_ROW = 4  # images of a grid


def stack(sheets: Sequence[Image.Image]) -> Image.Image:
    """Return images below each other."""
    if len(sheets) == 1:
        return sheets[0]
    size = max(sheet.width for sheet in sheets), sum(sheet.height for sheet in sheets)
    stacked, top = Image.new("RGB", size), 0
    for sheet in sheets:
        stacked.paste(sheet, (0, top))
        top += sheet.height
    return stacked


class ImageViewer:
    """Shows the images of a question in the terminal, or opens them in another program.

    Parameters
    ----------
    thumbnail : callable
        Returns the thumbnail of an image as the content of an image file.
    protocol : str
        One of `PROTOCOLS`; ``auto`` uses the environment variables and queries the terminal.
    write : callable
        Writes text to the terminal.
    """

    def __init__(
        self,
        thumbnail: Callable[[int], bytes],
        protocol: str = "auto",
        write: Callable[[str], object] = sys.stdout.write,
    ) -> None:
        if protocol not in PROTOCOLS:
            raise UnknownNameError("way to show images", protocol, PROTOCOLS)
        self._thumbnail, self._write = thumbnail, write
        self._protocol = _best_protocol() if protocol == "auto" else protocol
        self._file = Path(tempfile.gettempdir()) / f"likewise-question-{os.getpid()}.png"

    def __call__(self, question: Question) -> None:
        """Show the images of a question, of a grid in rows; the first is the image in question."""
        if self.shows_names_only:
            return
        height = _BLOCKS_HEIGHT if self._protocol == "blocks" else _HEIGHT
        rows: list[tuple[int, ...]] = [question.images]
        if question.kind == "grid":
            starts = range(0, len(question.asked), _N_PER_ROW)
            rows = [question.representatives]
            rows += [question.asked[start : start + _N_PER_ROW] for start in starts]
        sheet = stack([montage([*map(self._thumbnail_or_none, row)], height) for row in rows])
        if self._protocol in RENDERERS:
            self._write(RENDERERS[self._protocol](sheet))
            return
        sheet.save(self._file)
        if not webbrowser.open(self._file.as_uri()):
            self._write(f"(the images are in {self._file})\n")

    @property
    def shows_names_only(self) -> bool:
        """Whether only names are shown, so that the person needs full paths to open the files."""
        return self._protocol == "names"

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.unlink(missing_ok=True)

    def _thumbnail_or_none(self, image: int) -> bytes | None:
        try:
            return self._thumbnail(image)
        except ImageError:
            return None


def _best_protocol() -> str:
    protocol = protocol_in_environment(os.environ, sys.stdout.isatty())
    return (query_terminal() or protocol) if protocol == "blocks" else protocol
