"""Reading published archives: location, checksums, images in zip and tar, safe unpickling."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from likewise.errors import DatasetError, ImageError, LikewiseWarning
from likewise.images.collection import Pixels, Skipped
from likewise.images.decoding import naming, read
from likewise.images.find_files import EXTENSIONS
from likewise_bench.datasets.base import some


@dataclass(frozen=True)
class Form:
    """One published form of a data set: its files and checksums.

    Attributes
    ----------
    archive : str
        File name of the archive.
    folder : str
        What it unpacks to.
    files : tuple of str
        What must be in the folder.
    n_bytes, md5 : int and str, optional
        Of the official archive.
    is_on_page : bool
        Whether the set's page offers it; else whoever has it got it elsewhere.
    """

    archive: str
    folder: str
    files: tuple[str, ...]
    n_bytes: int | None = None
    md5: str | None = None
    is_on_page: bool = True

    def is_at(self, path: Path) -> bool:
        """Return whether `path` is the archive or the folder."""
        if path.is_file():
            return path.name == self.archive
        return len(self.missing(path)) < len(self.files)

    def missing(self, folder: Path) -> list[str]:
        """Return the files missing from `folder`; the contents of a zip are folders."""
        is_kind = Path.is_dir if self.archive.endswith(".zip") else Path.is_file
        return [file for file in self.files if not is_kind(folder / file)]


@dataclass(frozen=True)
class Published:
    """A data set to be downloaded from `page` in one of its published forms."""

    name: str
    page: str
    forms: tuple[Form, ...]

    def find(self, data: Path | None) -> tuple[Form, Path]:
        """Return the first form found at or below `data`, and its location.

        Raises
        ------
        DatasetError
            If there is none, it lacks files, or its checksum is wrong.
        """
        if data is None:
            raise DatasetError(
                f"No folder was given for the data set {self.name!r}, which is not part of this "
                f"program; {self.how_to_get('a folder')} and give that folder (--data)."
            )
        for form in self.forms:
            for path in (data / form.folder, data / form.archive, data):
                if form.is_at(path):
                    self._check(form, path)
                    return form, path
        if data.is_file():
            raise DatasetError(
                f"{str(data)!r} is a file, and none of the data set {self.name!r} (looked for "
                f"{self._looked_for()}); --data wants the folder: "
                f"{self.how_to_get('a folder')} and give that folder."
            )
        reason = "has none of the files" if data.is_dir() else "is no folder with the files"
        raise DatasetError(
            f"{str(data)!r} {reason} of the data set {self.name!r} (looked for "
            f"{self._looked_for()}); {self.how_to_get(repr(str(data)))}."
        )

    def how_to_get(self, place: str) -> str:
        """Return where to download the data set and where to put it."""
        return f"download {self.forms[0].archive} from {self.page}, put it into {place}"

    def _again(self, form: Form) -> str:
        """Return how to download a form again."""
        if form.is_on_page:
            return f"download it again from {self.page}"
        return f"copy {form.archive} again from where it came from"

    def _looked_for(self) -> str:
        return ", ".join(f"{form.archive}, {form.folder}/" for form in self.forms)

    def _check(self, form: Form, path: Path) -> None:
        if path.is_dir():
            missing = form.missing(path)
            if missing:
                raise DatasetError(
                    f"The folder {str(path)!r} lacks {some(missing)} of the data set "
                    f"{self.name!r}; unpack {form.archive} again, or {self._again(form)}."
                )
        elif path.stat().st_size == form.n_bytes and _md5(path) != form.md5:
            raise DatasetError(
                f"{str(path)!r} has a wrong checksum (MD5 {_md5(path)}, not {form.md5}): it was "
                f"damaged on its way; delete it and {self._again(form)}."
            )

    @contextmanager
    def reading(self, form: Form, path: Path) -> Iterator[None]:
        """Raise a clear error if the files cannot be read; warn if checksums differ."""
        try:
            yield
        except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
            raise DatasetError(
                f"{str(path)!r} is broken or half-downloaded ({_size(form, path)}: {error}); "
                f"delete it and {self._again(form)}."
            ) from error
        if path.is_file() and form.n_bytes not in (None, path.stat().st_size):
            warnings.warn(
                f"{str(path)!r} is not the official archive of {self.name} ({_size(form, path)}); "
                "it was read, but figures made with it are not comparable to published ones.",
                LikewiseWarning,
                stacklevel=4,
            )

    def read_files(self, form: Form, path: Path) -> dict[str, bytes]:
        """Return the contents of the files of `form`, in order, from its folder or tar archive.

        The archive may hold them in any order: CIFAR-10's has the test set third.
        """
        with self.reading(form, path):
            if path.is_dir():
                return {file: (path / file).read_bytes() for file in form.files}
            contents = _members(path, set(form.files))
        missing = [file for file in form.files if file not in contents]
        if missing:
            raise DatasetError(
                f"{str(path)!r} lacks {some(missing)} of the data set {self.name!r}; "
                f"{self._again(form)}."
            )
        return {file: contents[file] for file in form.files}


def _members(archive: Path, files: set[str]) -> dict[str, bytes]:
    """Return the members of a gzipped tar archive with these names, in one pass."""
    contents: dict[str, bytes] = {}
    with gzip.open(archive) as unzipped, tarfile.open(fileobj=unzipped, mode="r|") as tar:
        for member in tar:
            name = Path(member.name).name
            stream = tar.extractfile(member) if name in files and member.isfile() else None
            if stream is not None:
                contents[name] = stream.read()
        while unzipped.read(1 << 20):
            pass  # gzip compares its checksum at the very end
    return contents


def _size(form: Form, path: Path) -> str:
    if path.is_dir():
        return "a folder"
    official = "" if form.n_bytes is None else f" instead of {form.n_bytes:,}"
    return f"{path.stat().st_size:,}{official} bytes"


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


_ZIP_HEADER = struct.Struct("<26xHH")  # before each member; ends with the lengths of two fields


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A range of bytes in an archive that is one image file."""

    path: Path
    name: str  # of the picture, below the archive or folder
    offset: int = 0
    n_bytes: int = -1  # to the end
    deflated: bool = False
    crc: int | None = None  # in a zip; there a header of unknown length comes first

    def __str__(self) -> str:
        """Return its name for messages: path and archive or folder."""
        is_file = self.n_bytes < 0
        place = self.path.parents[self.name.count("/")] if is_file else self.path
        return f"{self.name!r} in {str(place)!r}"

    def read(self) -> bytes:
        """Return the bytes of the image file; opens the archive anew, so processes can share it."""
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            if self.crc is not None:
                stream.seek(sum(_ZIP_HEADER.unpack(stream.read(_ZIP_HEADER.size))), 1)
            content = stream.read(self.n_bytes)
        content = zlib.decompress(content, -zlib.MAX_WBITS) if self.deflated else content
        if self.crc not in (None, zlib.crc32(content)):
            raise zlib.error("its checksum is wrong")
        return content


class ArchiveCollection:
    """A collection of images at known byte ranges of files.

    Parameters
    ----------
    pieces : sequence of ArchiveMember

    Attributes
    ----------
    skipped : list of Skipped
        Always empty: a broken picture raises when it is asked for.
    """

    def __init__(self, pieces: Sequence[ArchiveMember]) -> None:
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
        """Return the SHA-256 of the image file, the same as in a folder."""
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


def members_of(path: Path) -> Iterator[ArchiveMember]:
    """Yield the images of a folder, a zip or an uncompressed tar, ordered by name."""
    if path.is_dir():
        pieces = _of_folder(path)
    elif path.suffix == ".zip":
        pieces = _of_zip(path)
    else:
        pieces = tar_members(path, 0)
    return iter(sorted(pieces, key=lambda piece: piece.name))


def _of_folder(folder: Path) -> Iterator[ArchiveMember]:
    for path in folder.rglob("*"):
        if _is_picture(path.name):
            yield ArchiveMember(path, path.relative_to(folder).as_posix())


def _of_zip(path: Path) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if _is_picture(member.filename):
                deflated = member.compress_type == zipfile.ZIP_DEFLATED
                place = (member.header_offset, member.compress_size)
                yield ArchiveMember(
                    path, member.filename, *place, deflated=deflated, crc=member.CRC
                )


def tar_members(path: Path, offset: int, *, only_pictures: bool = True) -> Iterator[ArchiveMember]:
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
                        yield ArchiveMember(path, member.name, member.offset_data, member.size)
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


#: All that a pickle of numbers, texts and arrays needs; old and new homes of NumPy's functions.
_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    *(
        (f"numpy.{core}.{module}", function)
        for core in ("core", "_core")
        for module, function in (("multiarray", "_reconstruct"), ("numeric", "_frombuffer"))
    ),
    ("_codecs", "encode"),  # how Python 3 writes bytes in old protocols
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a global named by the pickle, if it is on the list of allowed ones."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which could be anything")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_pickle(content: bytes, name: str) -> dict[str, Any]:
    """Return a pickled dict with its keys as text.

    Parameters
    ----------
    content : bytes
        What is in the file. Of all Python's objects only numbers, texts,
        lists, dicts and arrays are made.
    name : str
        What the file is called, for messages.

    Raises
    ------
    DatasetError
        If it is no pickle, is cut short, or asks for anything else.
    """
    try:
        found = _Reader(io.BytesIO(content), encoding="bytes").load()
    except Exception as error:  # a broken pickle raises anything at all
        raise DatasetError(
            f"{name!r} cannot be read as arrays ({error}); it is broken, or not the official "
            "file: download the archive again."
        ) from error
    if not isinstance(found, dict):
        raise DatasetError(f"{name!r} holds no batch of pictures; download the archive again.")
    return {key.decode() if isinstance(key, bytes) else str(key): v for key, v in found.items()}
