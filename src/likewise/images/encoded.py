"""Read images from a zip archive or from a remote address, such as s3:// or https://."""

import hashlib
import os
import re
import shutil
import tempfile
import warnings
import weakref
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import IO, Any

from likewise.errors import CollectionError, ImageError, MissingExtraError
from likewise.images.collection import Pixels, Skipped, find_duplicates, summarize_skipped
from likewise.images.decoding import SUPPORTED_FORMATS, naming, open_file, read
from likewise.images.find_files import (
    EXTENSIONS,
    UNSUPPORTED_EXTENSIONS,
    check_regular,
    checked_folder,
    find_files,
)
from likewise.images.raw_photos import RAW_EXTENSIONS
from likewise.types import Progress, silent

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_IMAGE_EXTENSIONS = EXTENSIONS | UNSUPPORTED_EXTENSIONS | RAW_EXTENSIONS
_CHUNK = 256  # images submitted to the threads at once
_THREADS = 8  # most of the time is waiting for the network
ReadBytes = Callable[[str], bytes]


class EncodedCollection:
    """Images whose encoded content is read on demand, by name.

    Parameters
    ----------
    names : sequence of str
    read_bytes : callable
        From a name to the content of the image; thread-safe.
    identities : sequence of str
        The SHA-256 of each content: the same as that of a file with this content.
    skipped : sequence of Skipped

    Attributes
    ----------
    skipped : list of Skipped
    duplicates : list of lists of int
        Positions with the same content.
    """

    def __init__(
        self,
        names: Sequence[str],
        read_bytes: ReadBytes,
        identities: Sequence[str],
        skipped: Sequence[Skipped] = (),
    ) -> None:
        self._names, self._read_bytes = list(names), read_bytes
        self._identities = list(identities)
        self.skipped: list[Skipped] = list(skipped)
        self.duplicates: list[list[int]] = find_duplicates(self._identities)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"EncodedCollection({len(self)} images, {len(self.skipped)} skipped)"

    def content(self, index: int) -> bytes:
        """Return the encoded image."""
        name = self._names[index]
        with naming(repr(name)):
            content = self._read_bytes(name)
            if hashlib.sha256(content).hexdigest() != self._identities[index]:
                raise ImageError("was changed since it was scanned; read the source again.")
        return content

    def pixels(self, index: int, *, at_least: int | None = None) -> Pixels:
        """Return an image upright, as RGB; see `FileCollection.pixels`."""
        content = self.content(index)
        with naming(repr(self._names[index])):
            return read(BytesIO(content), at_least=at_least)

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the content."""
        return self._identities[index]

    def name(self, index: int) -> str:
        """Return the path below the archive or address."""
        return self._names[index]


def read_encoded(
    names: Sequence[str],
    read_bytes: ReadBytes,
    source: str,
    progress: Progress = silent,
    skipped: Sequence[Skipped] = (),
) -> EncodedCollection:
    """Read and decode every image once; those that cannot be decoded are skipped and listed.

    Raises
    ------
    CollectionError
        If no image can be read.
    """
    found: list[tuple[str, str]] = []
    left_out = list(skipped)
    with warnings.catch_warnings(), ThreadPoolExecutor(_THREADS) as pool:
        warnings.filterwarnings("ignore", module=r"PIL\.")  # about unusual metadata
        for start in range(0, len(names), _CHUNK):
            chunk = names[start : start + _CHUNK]
            results = pool.map(partial(_validate, read_bytes), chunk)
            for name, result in zip(chunk, results, strict=True):
                if isinstance(result, Skipped):
                    left_out.append(result)
                else:
                    found.append((name, result))
                progress(len(found) + len(left_out) - len(skipped), len(names))
    if not found:
        raise CollectionError(_no_images(source, left_out))
    left_out.sort(key=lambda image: image.name)
    identities = [identity for _, identity in found]
    return EncodedCollection([name for name, _ in found], read_bytes, identities, left_out)


def _validate(read_bytes: ReadBytes, name: str) -> str | Skipped:
    """Return the SHA-256 of an image that can be decoded, or why it is skipped."""
    try:
        content = read_bytes(name)
        read(BytesIO(content), at_least=1)
    except ImageError as error:
        return Skipped(name, str(error))
    return hashlib.sha256(content).hexdigest()


def _no_images(source: str, skipped: Sequence[Skipped]) -> str:
    advice = f"choose a source with images ({SUPPORTED_FORMATS})."
    if not skipped:
        return f"{source} contains no images; {advice}"
    return f"No image in {source} can be read; {advice}\n{summarize_skipped(skipped)}"


# -- zip archives --------------------------------------------------------------------


def read_zip(
    archive: str | PathLike[str] | IO[bytes], source: str = "", progress: Progress = silent
) -> EncodedCollection:
    """Return the images in a zip archive; nothing is extracted.

    Parameters
    ----------
    archive : path or binary file
    source : str
        What error messages call the archive; by default its path.
    progress : Progress
        Called with the number of validated images.

    Raises
    ------
    CollectionError
        If it is not a zip archive, or contains no readable image.
    """
    source = source or f"The archive {str(archive)!r}"
    try:
        opened = zipfile.ZipFile(archive)
    except FileNotFoundError as error:
        raise CollectionError(f"{source} does not exist; check its name.") from error
    except (OSError, zipfile.BadZipFile) as error:
        raise CollectionError(
            f"{source} must be a zip archive, but cannot be read as one ({error}); copy it again."
        ) from error
    names = sorted(info.filename for info in opened.infolist() if _is_image_name(info.filename))
    return read_encoded(names, partial(_read_member, opened), source, progress)


def _read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)  # checks the CRC; `ZipFile` locks the file
    except RuntimeError as error:  # encrypted
        raise ImageError("is encrypted; extract the archive with its password first.") from error
    except Exception as error:  # zlib, lzma, a method that is not supported
        raise ImageError(f"is damaged in the archive ({error}); copy the archive again.") from error


def _is_image_name(name: str) -> bool:
    path = PurePosixPath(name)
    is_hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)
    return path.suffix.lower() in _IMAGE_EXTENSIONS and not is_hidden


# -- addresses -----------------------------------------------------------------------


def is_address(source: object) -> bool:
    """Return whether `source` is a text such as ``s3://bucket/photos``.

    Examples
    --------
    >>> is_address("s3://bucket/photos"), is_address("C:/photos"), is_address("photos")
    (True, False, False)
    """
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def read_address(address: str, progress: Progress = silent) -> EncodedCollection:
    """Return the images below an address, read on demand with fsspec.

    Parameters
    ----------
    address : str
        A folder or a zip archive: ``s3://bucket/photos``, ``https://host/photos.zip``,
        ``memory://photos``; any file system that fsspec knows.
    progress : Progress
        Called with the number of validated images.

    Raises
    ------
    CollectionError
        If the scheme is unknown, the address cannot be read, or it has no readable image.
    MissingExtraError
        If fsspec is not installed.
    """
    files, root = open_address(address)
    if root.lower().endswith(".zip"):
        return _read_remote_zip(files, root, address, progress)
    below = FilesBelow(address)
    names, _ = below.images()
    return read_encoded(names, below.read, address, progress)


class FilesBelow:
    """The files below a folder or an address, read by name; can be sent to other processes.

    Parameters
    ----------
    source : str
        A folder, or an address such as ``s3://bucket/photos``.
    """

    def __init__(self, source: str) -> None:
        self.source = source if is_address(source) else os.path.abspath(os.path.expanduser(source))
        self._opened: tuple[Any, str] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return FilesBelow, (self.source,)  # a connection is not sent

    def images(self) -> tuple[list[str], list[Skipped]]:
        """Return the names of the possible images, sorted, and those skipped without opening them.

        Raises
        ------
        CollectionError
            If there is no such folder or address, or it has no images.
        """
        if not is_address(self.source):
            found = find_files(checked_folder(Path(self.source)))
            names, skipped = [name for _, name in found.files], found.skipped
        else:
            names, skipped = [name for name in self._names() if _is_image_name(name)], []
        if not names:
            raise CollectionError(_no_images(self.source, skipped))
        return names, skipped

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises
        ------
        ImageError
            If it cannot be read.
        """
        if not is_address(self.source):
            path = os.path.join(self.source, name)
            check_regular(path)
            with open_file(path) as stream:
                return stream.read()
        files, prefix = self._open()
        try:
            content: bytes = files.cat_file(prefix + name)
        except Exception as error:  # every file system raises its own
            raise ImageError(
                f"cannot be read from {self.source} ({error or type(error).__name__}); check the "
                "connection."
            ) from error
        return content

    def _names(self) -> list[str]:
        files, prefix = self._open()
        try:
            paths = sorted(files.find(prefix.rstrip("/")))
        except Exception as error:
            raise unreadable_address(self.source, error) from error
        if not paths:
            raise CollectionError(f"{self.source} does not exist or is empty; check the address.")
        return [path.removeprefix(prefix) for path in paths]

    def _open(self) -> tuple[Any, str]:
        """Return the file system, and the path of the address in it with a slash at its end."""
        if self._opened is None:
            files, root = open_address(self.source)
            self._opened = files, root.rstrip("/") + "/"
        return self._opened


def open_address(address: str) -> tuple[Any, str]:
    """Return the fsspec file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError(f"The address {address!r}", "fsspec", "remote") from error
    scheme = address.partition("://")[0]
    try:
        files, root = url_to_fs(address)
    except ImportError as error:  # s3fs, gcsfs, …
        raise CollectionError(
            f"The address {address!r} needs another package ({error}); install it, for example "
            "with `pip install 'likewise[remote]'` for https:// and s3://."
        ) from error
    except ValueError as error:
        raise CollectionError(
            f"The scheme {scheme!r} of {address!r} is not known; use a folder, or an address "
            "such as https://…, s3://…, gs://…, file://…."
        ) from error
    except Exception as error:
        raise unreadable_address(address, error) from error
    return files, str(root)


def unreadable_address(address: str, error: Exception) -> CollectionError:
    """Return the error for an address that cannot be read."""
    kind = type(error).__name__
    if isinstance(error, FileNotFoundError):
        return CollectionError(f"{address} does not exist; check the address.")
    if isinstance(error, PermissionError) or "redential" in f"{kind} {error}":
        return CollectionError(
            f"{address} cannot be read: access is denied or no credentials were found ({error}); "
            "set the credentials of this storage, for S3 with `aws configure` or AWS_PROFILE."
        )
    return CollectionError(
        f"{address} cannot be read ({error or kind}); check the address and the connection."
    )


def _read_remote_zip(files: Any, path: str, address: str, progress: Progress) -> EncodedCollection:
    """Return the images of an archive, from a temporary copy deleted with the collection."""
    with ExitStack() as undo:
        copy = undo.enter_context(tempfile.TemporaryFile())
        try:
            with files.open(path, "rb") as stream:
                shutil.copyfileobj(stream, copy, 1 << 20)
        except Exception as error:
            raise unreadable_address(address, error) from error
        copy.seek(0)
        collection = read_zip(copy, f"The archive {address}", progress)
        undo.pop_all()
    weakref.finalize(collection, copy.close)
    return collection


# -- local copies --------------------------------------------------------------------


def copy_to_folder(collection: EncodedCollection, folder: Path, progress: Progress = silent) -> int:
    """Write the images of a collection as files below `folder`; return how many were new.

    Files that exist with the same content are kept. A name that would be outside of `folder`
    is not written.
    """
    n_new = 0
    for i in range(len(collection)):
        parts = PurePosixPath(collection.name(i).replace("\\", "/")).parts
        target = folder.joinpath(*(part for part in parts if part not in ("..", "/", "")))
        if not _has_content(target, collection.identity(i)):
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.part")
            part.write_bytes(collection.content(i))
            part.replace(target)
            n_new += 1
        progress(i + 1, len(collection))
    return n_new


def _has_content(path: Path, identity: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == identity
