"""Pictures inside archives and folders, read one at a time and never unpacked."""

import hashlib
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from likewise.errors import ImageError
from likewise.images.collection import Pixels
from likewise.images.decoding import naming, read
from likewise.images.find_files import EXTENSIONS
from likewise.images.unreadable import Skipped

_ZIP_HEADER = struct.Struct("<26xHH")  # before each member; ends with the lengths of two fields


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that holds one picture file."""

    path: Path
    name: str  # of the picture, below the archive or folder
    offset: int = 0
    n_bytes: int = -1  # to the end
    deflated: bool = False
    crc: int | None = None  # in a zip; there a header of unknown length comes first

    def __str__(self) -> str:
        """Return what messages call it: its name, and the archive or folder it is below."""
        is_file = self.n_bytes < 0
        place = self.path.parents[self.name.count("/")] if is_file else self.path
        return f"{self.name!r} in {str(place)!r}"

    def read(self) -> bytes:
        """Return the picture file; every call opens the archive, so processes can share this."""
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            if self.crc is not None:
                stream.seek(sum(_ZIP_HEADER.unpack(stream.read(_ZIP_HEADER.size))), 1)
            content = stream.read(self.n_bytes)
        content = zlib.decompress(content, -zlib.MAX_WBITS) if self.deflated else content
        if self.crc not in (None, zlib.crc32(content)):
            raise zlib.error("its checksum is wrong")
        return content


class PackedCollection:
    """Pictures at known places in files.

    Parameters
    ----------
    pieces : sequence of Piece

    Attributes
    ----------
    skipped : list of Skipped
        Always empty: a broken picture raises when it is asked for.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = list(pieces)
        self.skipped: list[Skipped] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def pixels(self, index: int) -> Pixels:
        """Return one image upright, as RGB (h, w, 3)."""
        content = self._content(index)
        with naming(str(self._pieces[index])):
            return read(BytesIO(content))

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the picture file, as if it lay in a folder."""
        return hashlib.sha256(self._content(index)).hexdigest()

    def name(self, index: int) -> str:
        """Return the path below the archive or folder."""
        return self._pieces[index].name

    def _content(self, index: int) -> bytes:
        piece = self._pieces[index]
        try:
            return piece.read()
        except (OSError, struct.error, zlib.error) as error:
            raise ImageError(
                f"{piece} cannot be read ({error}); "
                "the file was changed or is damaged: get it again."
            ) from error


def pieces_of(path: Path) -> Iterator[Piece]:
    """Yield the pictures of a folder, a zip or an uncompressed tar, ordered by name."""
    if path.is_dir():
        pieces = _of_folder(path)
    elif path.suffix == ".zip":
        pieces = _of_zip(path)
    else:
        pieces = pieces_of_tar(path, 0)
    return iter(sorted(pieces, key=lambda piece: piece.name))


def _of_folder(folder: Path) -> Iterator[Piece]:
    for path in folder.rglob("*"):
        if _is_picture(path.name):
            yield Piece(path, path.relative_to(folder).as_posix())


def _of_zip(path: Path) -> Iterator[Piece]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if _is_picture(member.filename):
                deflated = member.compress_type == zipfile.ZIP_DEFLATED
                place = (member.header_offset, member.compress_size)
                yield Piece(path, member.filename, *place, deflated=deflated, crc=member.CRC)


def pieces_of_tar(path: Path, offset: int, *, only_pictures: bool = True) -> Iterator[Piece]:
    """Yield the members of an uncompressed tar that begins at `offset` of a file.

    Raises
    ------
    tarfile.ReadError
        If it is no tar or is cut short; the text begins with the file.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                for member in archive:
                    if member.isfile() and (_is_picture(member.name) or not only_pictures):
                        yield Piece(path, member.name, member.offset_data, member.size)
                _check_end(stream, archive.offset)
    except tarfile.TarError as error:
        raise tarfile.ReadError(f"{str(path)!r}: {error}") from error


def _check_end(stream: BinaryIO, offset: int) -> None:
    """Raise if no block of zeros ends the archive; `tarfile` takes half a header for its end."""
    stream.seek(offset)
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"no member and no end of the archive at byte {offset:,}")


def _is_picture(name: str) -> bool:
    return Path(name).suffix.lower() in EXTENSIONS and not Path(name).name.startswith(".")
