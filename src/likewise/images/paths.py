"""Read pictures from a list of paths."""

from collections.abc import Iterable, Sequence
from os import PathLike, fsencode, fspath
from os.path import expanduser

from likewise.errors import CollectionError, InvalidParameterError
from likewise.images.files import FileCollection
from likewise.images.scan import Found, scan
from likewise.images.skipped import Skipped, summary
from likewise.progress import Progress, silent


class PathCollection(FileCollection):
    """Pictures in the order in which their paths were given; made by `read_paths`.

    Attributes
    ----------
    given : list of int
        Where in the list that was given each image stood. It differs from
        ``0 .. n - 1`` as soon as a picture was skipped.
    skipped : list of Skipped
    duplicates : list of lists of int
    """

    def __init__(
        self, found: Sequence[Found], skipped: Sequence[Skipped], given: Sequence[int]
    ) -> None:
        super().__init__(found, skipped)
        self.given = list(given)


def read_paths(paths: Iterable[str | PathLike[str]], progress: Progress = silent) -> PathCollection:
    """Check the pictures at `paths`; those that cannot be decoded are left out and listed.

    Raises
    ------
    CollectionError
        If no path was given, or none of the pictures can be read.
    InvalidParameterError
        If `paths` is one path instead of a list, or holds something else.
    """
    if isinstance(paths, (str, bytes, PathLike)):
        raise InvalidParameterError(
            f"paths={paths!r} is one path, not a list; give [{paths!r}], "
            "or use read_folder for a folder."
        )
    files = [_file(path) for path in paths]
    if not files:
        raise CollectionError("The list of paths is empty; give at least one picture.")
    results = scan(files, progress)
    skipped = [one for one in results if isinstance(one, Skipped)]
    if len(skipped) == len(files):
        raise CollectionError(
            f"None of the {len(files)} pictures given can be read; check the paths.\n"
            f"{summary(skipped)}"
        )
    given = [place for place, one in enumerate(results) if isinstance(one, Found)]
    return PathCollection([one for one in results if isinstance(one, Found)], skipped, given)


def _file(path: object) -> tuple[str, str]:
    if not isinstance(path, (str, PathLike)):
        raise InvalidParameterError(
            f"{path!r} in the list of paths is no path but {type(path).__name__}; "
            "give file names only."
        )
    text = str(fspath(path))
    return expanduser(text), fsencode(text).decode("utf-8", "replace")
