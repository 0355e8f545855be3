"""Image collections of files: a folder or a list of paths; pixels are decoded when needed."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from io import BufferedReader
from os import PathLike
from pathlib import Path

from likewise.errors import CollectionError, ImageError, InvalidParameterError
from likewise.images.collection import Pixels, Skipped, find_duplicates, summarize_skipped
from likewise.images.decoding import SUPPORTED_FORMATS, naming, open_file, read
from likewise.images.find_files import (
    FoundFiles,
    ImageFile,
    Known,
    check_regular,
    checked_folder,
    content_hash,
    find_files,
    validate_files,
    validate_some,
)
from likewise.types import Progress, silent


class FileCollection:
    """Image files in a fixed order.

    Parameters
    ----------
    files : sequence of ImageFile
        The files that can be decoded.
    skipped : sequence of Skipped
        The skipped files, with reasons.

    Attributes
    ----------
    skipped : list of Skipped
    duplicates : list of lists of int
        Positions with the same file content, each list of two or more.
    """

    def __init__(self, files: Sequence[ImageFile], skipped: Sequence[Skipped]) -> None:
        self._files = list(files)
        self.skipped: list[Skipped] = list(skipped)
        self.duplicates: list[list[int]] = find_duplicates(file.identity for file in self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} images, {len(self.skipped)} skipped)"

    def pixels(self, index: int, *, at_least: int | None = None) -> Pixels:
        """Return an image upright, as RGB in its original size (h, w, 3).

        Parameters
        ----------
        index : int
        at_least : int, optional
            Allow a JPEG to be decoded smaller, as long as both sides have at least this length.

        Raises
        ------
        ImageError
            If the file was deleted, damaged or changed since it was validated.
        """
        file = self._files[index]
        with naming(repr(file.name)):
            check_regular(file.path)
            with open_file(file.path) as stream:
                _check_unchanged(stream, file)
                return read(stream, at_least=at_least)

    def identity(self, index: int) -> str:
        """Return the SHA-256 of the file."""
        return self._files[index].identity

    def name(self, index: int) -> str:
        """Return the path below the folder, or as it was given."""
        return self._files[index].name

    def path(self, index: int) -> Path:
        """Return the path of the file."""
        return Path(self._files[index].path)


class FolderCollection(FileCollection):
    """The images below a folder, ordered by their path in it; created by `read_folder`.

    Attributes
    ----------
    folder : Path
    skipped : list of Skipped
    duplicates : list of lists of int
    n_unread : int
        Files that were not opened because the time was over.
    """

    def __init__(
        self,
        folder: Path,
        files: Sequence[ImageFile],
        skipped: Sequence[Skipped],
        n_unread: int = 0,
    ) -> None:
        super().__init__(files, skipped)
        self.folder = folder
        self.n_unread = n_unread


class PathCollection(FileCollection):
    """Images in the order in which their paths were given; created by `read_paths`.

    Attributes
    ----------
    given : list of int
        Position of each image in the given list. It differs from ``0 .. n - 1`` if an image
        was skipped.
    skipped : list of Skipped
    duplicates : list of lists of int
    """

    def __init__(
        self, files: Sequence[ImageFile], skipped: Sequence[Skipped], given: Sequence[int]
    ) -> None:
        super().__init__(files, skipped)
        self.given: list[int] = list(given)


def read_folder(
    path: str | PathLike[str],
    progress: Progress = silent,
    known: Known | None = None,
    *,
    seconds: float | None = None,
) -> FolderCollection:
    """Find and validate all images below a folder.

    Hidden files and folders, and session folders (``*.likewise``), are ignored. Links that
    lead out of the folder are not followed. Images that cannot be decoded are skipped and
    listed.

    Parameters
    ----------
    path : path
    progress : Progress
        Called with the number of validated files.
    known : mapping, optional
        Files validated before, (name, size, mtime in ns) to content hash; unchanged files are
        not opened again.
    seconds : float, optional
        Stop after about this time: the collection then has images from all parts of the folder,
        and `n_unread` is the number of files that were not opened.

    Returns
    -------
    collection : FolderCollection

    Raises
    ------
    CollectionError
        If the folder does not exist, or contains no readable image.
    """
    folder = checked_folder(Path(path).expanduser())
    found = find_files(folder)
    if not found.files:
        raise CollectionError(_no_images_message(folder, found))
    if seconds is None:
        results = validate_files(found.files, progress, known)
    else:
        results = validate_some(found.files, progress, known, seconds)
    files = [result for result in results if isinstance(result, ImageFile)]
    unreadable = [result for result in results if isinstance(result, Skipped)]
    if not files:
        raise CollectionError(
            f"None of the {len(unreadable)} images in {str(folder)!r} can be read; "
            f"replace them, or choose another folder.\n{summarize_skipped(unreadable)}"
        )
    skipped = sorted([*found.skipped, *unreadable], key=lambda image: image.name)
    return FolderCollection(folder, files, skipped, n_unread=len(found.files) - len(results))


def read_paths(paths: Iterable[str | PathLike[str]], progress: Progress = silent) -> PathCollection:
    """Validate the images at `paths`; those that cannot be decoded are skipped and listed.

    Raises
    ------
    CollectionError
        If `paths` is empty, or no image can be read.
    InvalidParameterError
        If `paths` is a single path, or contains something other than paths.
    """
    if isinstance(paths, (str, bytes, PathLike)):
        raise InvalidParameterError(
            f"paths must be a list of paths, got the single path {paths!r}; give [{paths!r}], "
            "or use read_folder for a folder."
        )
    candidates = [_path_and_name(path) for path in paths]
    if not candidates:
        raise CollectionError("The list of paths is empty; give at least one image.")
    results = validate_files(candidates, progress)
    skipped = [result for result in results if isinstance(result, Skipped)]
    if len(skipped) == len(candidates):
        raise CollectionError(
            f"None of the {len(candidates)} given images can be read; check the paths.\n"
            f"{summarize_skipped(skipped)}"
        )
    given = [position for position, file in enumerate(results) if isinstance(file, ImageFile)]
    return PathCollection([file for file in results if isinstance(file, ImageFile)], skipped, given)


def _path_and_name(path: object) -> tuple[str, str]:
    if not isinstance(path, (str, PathLike)):
        raise InvalidParameterError(
            f"paths must contain only paths, got {path!r} of type {type(path).__name__}."
        )
    text = str(os.fspath(path))
    return os.path.expanduser(text), text


def _check_unchanged(stream: BufferedReader, file: ImageFile) -> None:
    """Raise if the content changed: embeddings are cached under the content hash."""
    status = os.fstat(stream.fileno())
    if (status.st_size, status.st_mtime_ns) == (file.n_bytes, file.changed_at):
        return
    if content_hash(stream) != file.identity:
        raise ImageError("was changed since it was scanned; read the folder again.")


def _no_images_message(folder: Path, found: FoundFiles) -> str:
    advice = f"choose a folder with images ({SUPPORTED_FORMATS})."
    if found.skipped:
        return (
            f"No image in {str(folder)!r} can be read; {advice}\n{summarize_skipped(found.skipped)}"
        )
    if not found.others:
        return f"The folder {str(folder)!r} is empty; {advice}"
    return f"The folder {str(folder)!r} contains {_count(found.others)}, but no images; {advice}"


def _count(extensions: Counter[str]) -> str:
    n_files = extensions.total()
    kinds = ", ".join(f"{n} {kind or 'without extension'}" for kind, n in extensions.most_common(4))
    more = ", …" if len(extensions) > 4 else ""
    return f"{n_files} other file{'s' * (n_files > 1)} ({kinds}{more})"
