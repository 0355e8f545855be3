"""`likewise embed`: the vectors of a folder of pictures, for other programs."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_free, count_noun, print_json, replace_file, say
from likewise.cli.options import AsJson, EncoderName, Folder
from likewise.cli.sessions import check_pictures

if TYPE_CHECKING:
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.files import FolderCollection


def embed(
    folder: Folder,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.npy", help="Where to.")],
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Write one vector a picture to a NumPy file.

    Beside FILE.npy a FILE.json says which row is which picture and which columns are which
    facet. Vectors are kept in the cache ($LIKEWISE_CACHE, else your cache folder), so the
    next time is quick, and an interrupted run goes on where it stopped.

    \b
    Example:
        likewise embed photos/ -o photos.npy
    """
    from likewise.cli.console import Bars
    from likewise.cli.sessions import as_rows, cache, read, vectors
    from likewise.embedding.registry import DEFAULT, check_encoder

    notes = out.with_suffix(".json")
    check_pictures(folder, "embed", takes_session=False)
    check_free(out)
    check_free(notes)
    check_encoder(encoder or DEFAULT)
    with Bars() as bars:
        collection = read(folder, bars)
        found = vectors(collection, encoder or DEFAULT, cache(), bars)
    facts = _facts(found, collection, encoder or DEFAULT)
    write_rows(out, found)
    replace_file(notes, json.dumps(facts, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
    n_images, width = found.matrix().shape
    if as_json:
        skipped = as_rows([*collection.skipped, *found.skipped])
        print_json({"out": str(out), "n_images": n_images, "width": width, "skipped": skipped})
    else:
        say(f"{count_noun(n_images, 'vector')} of {width:,} numbers written to {out}")


def _facts(found: "Embeddings", collection: "FolderCollection", encoder: str) -> dict[str, Any]:
    from likewise.cli.sessions import kept_in

    return {
        "encoder": encoder,
        "facets": {name: [part.start, part.stop] for name, part in found.slices.items()},
        "names": [collection.name(i) for i in kept_in(found, collection)],
    }


def write_rows(out: Path, found: "Embeddings") -> None:
    """Write all facets side by side as a NumPy file, whole or not at all."""
    import numpy as np

    from likewise.session.atomic import write_atomic

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            rows = np.ascontiguousarray(found.matrix())
            np.lib.format.write_array_header_1_0(
                stream, np.lib.format.header_data_from_array_1_0(rows)
            )
            stream.write(rows.data)  # `numpy.save` would not say that the disk is full

    write_atomic(out, write)
