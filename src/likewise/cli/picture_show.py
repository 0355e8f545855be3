"""Shows the pictures of a question where a person at a terminal can see them."""

import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

from likewise.cli.montage import montage
from likewise.cli.terminal_pictures import DRAWN, WAYS, drawn, way_of
from likewise.cli.terminal_query import asked
from likewise.constraints.question import Question
from likewise.errors import ImageError, UnknownNameError

_HEIGHT, _BLOCKS = 256, 40  # pixels of a sheet; of one made of blocks


class PictureShow:
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
