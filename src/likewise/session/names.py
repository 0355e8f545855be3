"""Names for files and folders that every disk takes and that never meet."""

import re
import unicodedata

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_MAX_BYTES = 200  # most disks allow 255; some room for a number and an ending


class FreeNames:
    """Gives out names in one folder, each once, also where case does not count.

    Examples
    --------
    >>> names = FreeNames()
    >>> names.take("a.jpg"), names.take("A.jpg"), names.take("who/am:I?"), names.take("..")
    ('a.jpg', 'A (2).jpg', 'who_am_I_', '_')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return `wanted`, changed as little as must be, and never give it out again."""
        plain = name = fit_name(wanted)
        stem, dot, ending = plain.rpartition(".")
        while _folded(name) in self._taken:
            number = self._next.get(_folded(plain), 2)
            self._next[_folded(plain)] = number + 1
            name = f"{stem} ({number}).{ending}" if stem and dot else f"{plain} ({number})"
        self._taken.add(_folded(name))
        return name


def fit_name(wanted: str) -> str:
    """Return a name that is legal on every common disk."""
    name = _FORBIDDEN.sub("_", wanted).strip(" ").rstrip(".")
    if not name or _DEVICES.fullmatch(name):
        name = f"_{name}"
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > 10:
        stem, dot, ending = name, "", ""
    room = _MAX_BYTES - len(_bytes(ending))
    if len(_bytes(stem)) > room:
        stem = _bytes(stem)[:room].decode("utf-8", "ignore")
    return stem + dot + ending


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _folded(name: str) -> str:
    """Return what names have in common that some disks take for one."""
    return unicodedata.normalize("NFC", name).casefold()
