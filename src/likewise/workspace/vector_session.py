"""Sessions of precomputed vectors: a random sample of them, with images read on demand."""

import json
import textwrap
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from likewise.embedding.embeddings import Embeddings
from likewise.embedding.vector_file import VectorFile
from likewise.embedding.vector_source import VectorRows, VectorSource
from likewise.errors import CollectionError, EncoderError, ImageError, SessionError
from likewise.images.collection import Pixels, Skipped
from likewise.images.decoding import naming, read
from likewise.images.encoded import FilesBelow, is_address
from likewise.session.create import EMBEDDINGS
from likewise.session.session import Session
from likewise.session.validation import path_below
from likewise.types import Indexes

SAMPLE = 20_000  # images of a session by default
_NAME = "vectors"  # of the file in the embeddings of the session
_WIDTHS = "facets"  # key in the header of a vector file
_CARD, _FONT_SIZE = 512, 34  # pixels; of a card with the name, for what has no picture
_LINE, _LINES = 24, 9  # characters and lines on a card


class SampledVectors:
    """Rows of a source as a collection with content hashes but without pixels."""

    is_listed = True  # other images in the folder do not belong to the session

    def __init__(self, rows: VectorRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows.names)

    def identity(self, index: int) -> str:
        """Return the content hash."""
        return self._rows.hashes[index]

    def name(self, index: int) -> str:
        """Return the name."""
        return self._rows.names[index]

    def pixels(self, index: int) -> Pixels:
        """Raise: pictures are read by `PicturesByName`."""
        raise ImageError(f"{self.name(index)!r} is a vector without an image.")


def create_vector_session(
    path: Path, source: VectorSource, n_sampled: int, root: Path | None
) -> Session:
    """Create a session with a random sample of a source, and open it for writing.

    Parameters
    ----------
    path : Path
    source : VectorSource
    n_sampled : int
    root : Path, optional
        The folder that the names are relative to, if they are image files on this machine.
    """
    rows = source.sample(n_sampled)
    _check(rows, source.place)
    session = Session.create(path, SampledVectors(rows), root=root)
    try:
        _add(session, rows, source)
    except BaseException:
        session.close()
        raise
    return session


def restore_vectors(session: Session, place: str) -> None:
    """Add the vectors of a session again from their source if they were deleted.

    Raises
    ------
    SessionError
        If the session is not of these vectors.
    """
    stored = StoredVectors.find(session)
    hashes = session.images.hashes
    if stored is not None and all(one in stored.file for one in hashes):
        return
    source = VectorSource(place)
    rows = source.sample(len(hashes))
    if not set(rows.hashes) & set(hashes):
        raise SessionError(
            f"{session.path} is not a session of the vectors in {source.place}; give the vectors "
            "that it was created with, or another session with --session PATH."
        )
    _add(session, rows, source)


def _add(session: Session, rows: VectorRows, source: VectorSource) -> None:
    widths = source.blocks or {"all": rows.matrix.shape[1]}
    VectorFile(session.path / EMBEDDINGS, _NAME, widths).add(rows.hashes, rows.matrix)


def _check(rows: VectorRows, place: str) -> None:
    """Raise if a sample has fewer than two vectors, or numbers that are not finite."""
    if len(set(rows.hashes)) < 2:
        raise CollectionError(
            f"{place} must contain at least 2 different vectors, got {len(set(rows.hashes))}."
        )
    is_bad = ~np.isfinite(rows.matrix).all(axis=1)
    if is_bad.any():
        name = rows.names[int(is_bad.argmax())]
        raise EncoderError(
            f"{int(is_bad.sum()):,} vectors in {place} contain NaN or infinite values, for example "
            f"{name!r}; leave them out, or compute them again."
        )


class StoredVectors:
    """The vectors of a session that was created from vectors.

    Parameters
    ----------
    file : VectorFile
    """

    def __init__(self, file: VectorFile) -> None:
        self.file = file

    @classmethod
    def find(cls, session: Session) -> "StoredVectors | None":
        """Return the vectors of a session, None if it is one of images."""
        folder = session.path / EMBEDDINGS
        try:
            with (folder / f"{_NAME}.jsonl").open(encoding="utf-8") as index:
                widths = json.loads(index.readline())[_WIDTHS]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise EncoderError(
                f"The vectors in {folder} are damaged; delete that folder, and start again with "
                "--vectors and the original files."
            ) from error
        return cls(VectorFile(folder, _NAME, widths))

    def embeddings(self, session: Session, positions: Indexes) -> Embeddings:
        """Return the vectors of the images at `positions`; those without one are skipped."""
        hashes = [session.images.hashes[i] for i in positions]
        has_one = np.array([one in self.file for one in hashes], dtype=np.bool_)
        matrix = self.file.read([h for h, has in zip(hashes, has_one, strict=True) if has])
        reason = "no longer has a vector; start the session again with --vectors."
        skipped = [Skipped(session.images.names[i], reason) for i in positions[~has_one]]
        return Embeddings.from_matrix(matrix, self.file.widths, skipped, np.flatnonzero(has_one))


class PicturesByName:
    """The pictures of a session of vectors, read by name when they are shown.

    Parameters
    ----------
    session : Session
    source : str, optional
        Folder or address that the names are relative to. Without one, a card shows the name.
    """

    def __init__(self, session: Session, source: str | None) -> None:
        self._names, self._hashes = session.images.names, session.images.hashes
        self._files = None if source is None else FilesBelow(source)

    def __len__(self) -> int:
        return len(self._names)

    def identity(self, index: int) -> str:
        """Return the content hash."""
        return self._hashes[index]

    def pixels(self, index: int, *, at_least: int | None = None) -> Pixels:
        """Return a picture, or a card with its name.

        Raises
        ------
        ImageError
            If the picture cannot be read.
        """
        name = self._names[index]
        if self._files is None:
            return name_card(name)
        with naming(repr(name)):
            if not is_address(self._files.source):
                path_below(self._files.source, name)
            return read(BytesIO(self._files.read(name)), at_least=at_least)


def name_card(name: str) -> Pixels:
    """Return a picture of a name, for what has no picture of its own.

    Examples
    --------
    >>> name_card("a sentence").shape
    (512, 512, 3)
    """
    card = Image.new("RGB", (_CARD, _CARD), (246, 246, 244))
    lines = textwrap.wrap(name, _LINE, max_lines=_LINES, placeholder=" …")
    font = ImageFont.load_default(_FONT_SIZE)
    center = (_CARD // 2, _CARD // 2)
    drawing = ImageDraw.Draw(card)
    drawing.multiline_text(
        center, "\n".join(lines), (40, 40, 40), font, anchor="mm", align="center", spacing=10
    )
    return np.asarray(card, dtype=np.uint8)


def pictures_of(session: Session, source: str | None) -> "PicturesByName | None":
    """Return the pictures of a session of vectors; None for a session of image files."""
    if StoredVectors.find(session) is None:
        return None
    return PicturesByName(session, source if source is not None else _root(session))


def _root(session: Session) -> str | None:
    return None if session.root is None else str(session.root)
