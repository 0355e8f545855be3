"""Where a published data set's files are, whether they are whole, and what to say if not."""

import gzip
import hashlib
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from likewise.benchmark.datasets.words import some
from likewise.errors import DatasetError, LikewiseWarning


@dataclass(frozen=True)
class Form:
    """One form in which a data set is published.

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
        """Return the files that are not in `folder`; what a zip unpacks to are folders."""
        is_kind = Path.is_dir if self.archive.endswith(".zip") else Path.is_file
        return [file for file in self.files if not is_kind(folder / file)]


@dataclass(frozen=True)
class Published:
    """A data set that has to be downloaded, from `page`, in one of its forms."""

    name: str
    page: str
    forms: tuple[Form, ...]

    def find(self, data: Path | None) -> tuple[Form, Path]:
        """Return the first form found at or below `data`, and where it is.

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
        """Return the advice where to download the set and where to put it."""
        return f"download {self.forms[0].archive} from {self.page}, put it into {place}"

    def _again(self, form: Form) -> str:
        """Return the advice how to get a form anew."""
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
        """Say in words what is wrong if the files cannot be read; warn if they are not official."""
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
        """Return the content of `form`'s files in their order, from its folder or tar archive.

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
