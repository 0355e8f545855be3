"""Pictures from a folder, and their vectors, with bars and with every file that is left out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.notes import note, note_list
from likewise.errors import CollectionError

if TYPE_CHECKING:
    from likewise.cli.bars import Bars
    from likewise.encoders.embeddings import Embeddings
    from likewise.encoders.store import EmbeddingStore
    from likewise.images.collection import ImageCollection
    from likewise.images.files import FolderCollection
    from likewise.images.unreadable import Skipped
    from likewise.images.validate_files import Known


def read(folder: Path, bars: "Bars", known: "Known | None" = None) -> "FolderCollection":
    """Return the pictures of a folder; what is left out is listed on stderr.

    Files that are `known` and have not changed since are not opened again.
    """
    from likewise.images.files import read_folder

    collection = read_folder(folder, bars.step("reading pictures"), known)
    report(collection.skipped)
    return collection


def read_several(folder: Path, bars: "Bars", known: "Known | None" = None) -> "FolderCollection":
    """Return the pictures of a folder that must hold enough of them to be sorted."""
    collection = read(folder, bars, known)
    if len(collection) < 2:
        raise CollectionError(
            f"The folder {str(folder)!r} holds one picture only, and there is nothing to sort; "
            "add pictures, or choose another folder."
        )
    return collection


def cache() -> "EmbeddingStore | None":
    """Return where vectors are kept without a session, or nowhere, saying so, if it cannot be."""
    from likewise.encoders.store import default_cache, users_store

    store = users_store()
    if store is None:
        place = default_cache()
        note(f"Note: {place} cannot be written, so vectors are not kept; set LIKEWISE_CACHE.")
    return store


def vectors(
    collection: "ImageCollection", encoder: str, store: "EmbeddingStore | None", bars: "Bars"
) -> "Embeddings":
    """Return the vectors of a collection, kept in `store` for the next time."""
    from likewise.encoders.embed import embed
    from likewise.encoders.registry import make_encoder

    found = embed(collection, make_encoder(encoder), store, bars.step("embedding"))
    report(found.skipped)
    return found


def kept_in(found: "Embeddings", collection: "ImageCollection") -> list[int]:
    """Return the position in the collection of each vector."""
    return list(range(len(collection))) if found.kept is None else found.kept.tolist()


def report(skipped: "list[Skipped] | Any") -> None:
    """List on stderr what was left out."""
    note_list(f"{len(skipped):,} left out:", skipped)


def as_rows(skipped: "list[Skipped] | Any") -> list[dict[str, str]]:
    """Return what was left out, for JSON."""
    return [{"name": one.name, "reason": one.reason} for one in skipped]
