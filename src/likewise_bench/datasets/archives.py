"""Published archives: location, checksums, images in zip and tar, restricted unpickling."""

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
        Name of the folder it is unpacked to.
    files : tuple of str
        Required files of the folder.
    n_bytes, md5 : int and str, optional
        Size and checksum of the official archive.
    is_on_page : bool
        Whether the page of the data set offers this form.
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
        """Return the files missing from `folder`; for a zip, the missing folders."""
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
            If none is found, files are missing, or the checksum is wrong.
        """
        if data is None:
            raise DatasetError(
                f"The data set {self.name!r} needs a folder (--data); "
                f"{self.how_to_get('a folder')} and give that folder."
            )
        for form in self.forms:
            for path in (data / form.folder, data / form.archive, data):
                if form.is_at(path):
                    self._check(form, path)
                    return form, path
        if data.is_file():
            raise DatasetError(
                f"{str(data)!r} is not a file of the data set {self.name!r} (expected "
                f"{self._expected()}); --data must be a folder: "
                f"{self.how_to_get('a folder')} and give that folder."
            )
        reason = "has no files" if data.is_dir() else "is not a folder with the files"
        raise DatasetError(
            f"{str(data)!r} {reason} of the data set {self.name!r} (expected "
            f"{self._expected()}); {self.how_to_get(repr(str(data)))}."
        )

    def how_to_get(self, place: str) -> str:
        """Return where to download the data set and where to put it."""
        return f"download {self.forms[0].archive} from {self.page}, put it into {place}"

    def _again(self, form: Form) -> str:
        """Return how to download a form again."""
        if form.is_on_page:
            return f"download it again from {self.page}"
        return f"copy {form.archive} again from its source"

    def _expected(self) -> str:
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
                f"{str(path)!r} has a wrong checksum (MD5 {_md5(path)}, not {form.md5}): it "
                f"is damaged; delete it and {self._again(form)}."
            )

    @contextmanager
    def reading(self, form: Form, path: Path) -> Iterator[None]:
        """Raise a clear error if the files cannot be read; warn if checksums differ."""
        try:
            yield
        except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
            raise DatasetError(
                f"{str(path)!r} is damaged or incomplete ({_size(form, path)}: {error}); "
                f"delete it and {self._again(form)}."
            ) from error
        if path.is_file() and form.n_bytes not in (None, path.stat().st_size):
            warnings.warn(
                f"{str(path)!r} is not the official archive of {self.name} ({_size(form, path)}); "
                "results on it are not comparable to published ones.",
                LikewiseWarning,
                stacklevel=4,
            )

    def read_files(self, form: Form, path: Path) -> dict[str, bytes]:
        """Return the contents of the files of `form`, in order, from its folder or tar archive.

        The archive may have them in any order: in CIFAR-10's the test set is third.
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
            pass  # gzip checks its checksum at the end
    return contents


def _size(form: Form, path: Path) -> str:
    if path.is_dir():
        return "a folder"
    official = "" if form.n_bytes is None else f" instead of {form.n_bytes:,}"
    return f"{path.stat().st_size:,}{official} bytes"


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


_ZIP_HEADER = struct.Struct("<26xHH")  # local file header; its last fields are two lengths


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A range of bytes in an archive that is one image file."""

    path: Path
    name: str  # path of the image in the archive or folder
    offset: int = 0
    n_bytes: int = -1  # -1: to the end of the file
    deflated: bool = False
    crc: int | None = None  # of a zip member, which has a header of variable length

    def __str__(self) -> str:
        """Return the name for messages: path and archive or folder."""
        is_file = self.n_bytes < 0
        place = self.path.parents[self.name.count("/")] if is_file else self.path
        return f"{self.name!r} in {str(place)!r}"

    def read(self) -> bytes:
        """Return the bytes of the image file; reopens the archive, so processes can share it."""
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            if self.crc is not None:
                stream.seek(sum(_ZIP_HEADER.unpack(stream.read(_ZIP_HEADER.size))), 1)
            content = stream.read(self.n_bytes)
        content = zlib.decompress(content, -zlib.MAX_WBITS) if self.deflated else content
        if self.crc not in (None, zlib.crc32(content)):
            raise zlib.error("wrong checksum")
        return content


class ArchiveCollection:
    """A collection of images at known byte ranges of files.

    Parameters
    ----------
    pieces : sequence of ArchiveMember

    Attributes
    ----------
    skipped : list of Skipped
        Always empty: an unreadable image raises an error when accessed.
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
                "the file was changed or is damaged: download it again."
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
        if _is_image(path.name):
            yield ArchiveMember(path, path.relative_to(folder).as_posix())


def _of_zip(path: Path) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if _is_image(member.filename):
                deflated = member.compress_type == zipfile.ZIP_DEFLATED
                place = (member.header_offset, member.compress_size)
                yield ArchiveMember(
                    path, member.filename, *place, deflated=deflated, crc=member.CRC
                )


def tar_members(path: Path, offset: int, *, only_images: bool = True) -> Iterator[ArchiveMember]:
    """Yield the members of an uncompressed tar that begins at `offset` of a file.

    Raises
    ------
    tarfile.ReadError
        If it is not a tar archive or is truncated; the message begins with the path.
    """
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            with tarfile.open(fileobj=stream, mode="r:") as archive:
                for member in archive:
                    if member.isfile() and (_is_image(member.name) or not only_images):
                        yield ArchiveMember(path, member.name, member.offset_data, member.size)
                _check_end(stream, archive.offset)
    except tarfile.TarError as error:
        raise tarfile.ReadError(f"{str(path)!r}: {error}") from error


def _check_end(stream: BinaryIO, offset: int) -> None:
    """Raise unless a block of zeros ends the archive; `tarfile` accepts a truncated header."""
    stream.seek(offset)
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"neither a member nor the end of the archive at byte {offset:,}")


def _is_image(name: str) -> bool:
    return Path(name).suffix.lower() in EXTENSIONS and not Path(name).name.startswith(".")


#: Globals in a pickle of numbers, texts and arrays; NumPy 1 and NumPy 2 module names.
_ALLOWED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    *(
        (f"numpy.{core}.{module}", function)
        for core in ("core", "_core")
        for module, function in (("multiarray", "_reconstruct"), ("numeric", "_frombuffer"))
    ),
    ("_codecs", "encode"),  # Python 3 writes bytes this way in old protocols
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a global of the pickle if it is allowed."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_pickle(content: bytes, name: str) -> dict[str, Any]:
    """Return a pickled dict with its keys as text.

    Parameters
    ----------
    content : bytes
        Contents of the file. Only numbers, texts, lists, dicts and arrays are created.
    name : str
        Name of the file, for messages.

    Raises
    ------
    DatasetError
        If it is not a pickle, is truncated, or contains other objects.
    """
    try:
        found = _Reader(io.BytesIO(content), encoding="bytes").load()
    except Exception as error:  # a damaged pickle can raise any exception
        raise DatasetError(
            f"{name!r} cannot be read as arrays ({error}); it is damaged or not the official "
            "file: download the archive again."
        ) from error
    if not isinstance(found, dict):
        raise DatasetError(f"{name!r} has no batch of images; download the archive again.")
    return {key.decode() if isinstance(key, bytes) else str(key): v for key, v in found.items()}
