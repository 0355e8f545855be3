"""`likewise embed`: write the embeddings of an image folder for other programs."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_new_path, count_noun, print_json, print_line, replace_file
from likewise.cli.options import AsJson, EncoderName, Folder
from likewise.cli.sessions import check_image_folder

if TYPE_CHECKING:
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.files import FolderCollection


def embed(
    folder: Folder,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE.npy", help="Output file.")],
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Write one embedding for each image to a NumPy file.

    FILE.json next to FILE.npy contains the image name of each row and the columns of each
    feature block. Embeddings are cached ($LIKEWISE_CACHE, by default the user's cache folder),
    so the next run is fast, and an interrupted run continues where it stopped.

    \b
    Example:
        likewise embed photos/ -o photos.npy
    """
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import embed_images, embedding_cache, read_images, skipped_as_json
    from likewise.embedding.registry import DEFAULT_ENCODER, check_encoder

    description = out.with_suffix(".json")
    check_image_folder(folder, "embed", takes_session=False)
    check_new_path(out)
    check_new_path(description)
    check_encoder(encoder or DEFAULT_ENCODER)
    with ProgressBars() as bars:
        collection = read_images(folder, bars)
        embeddings = embed_images(collection, encoder or DEFAULT_ENCODER, embedding_cache(), bars)
    content = json.dumps(
        _describe(embeddings, collection, encoder or DEFAULT_ENCODER), ensure_ascii=False, indent=1
    )
    write_matrix(out, embeddings)
    replace_file(description, content.encode("utf-8", "backslashreplace"))
    n_images, width = embeddings.matrix().shape
    if as_json:
        skipped = skipped_as_json([*collection.skipped, *embeddings.skipped])
        print_json({"out": str(out), "n_images": n_images, "width": width, "skipped": skipped})
    else:
        print_line(f"{count_noun(n_images, 'embedding')} of width {width:,} written to {out}")


def _describe(
    embeddings: "Embeddings", collection: "FolderCollection", encoder: str
) -> dict[str, Any]:
    """Return the description of the rows and columns of a matrix of embeddings."""
    from likewise.cli.sessions import embedded_positions

    return {
        "encoder": encoder,
        "blocks": {name: [part.start, part.stop] for name, part in embeddings.slices.items()},
        "names": [collection.name(i) for i in embedded_positions(embeddings, collection)],
    }


def write_matrix(out: Path, embeddings: "Embeddings") -> None:
    """Write all feature blocks side by side as a NumPy file, atomically.

    `numpy.save` would not report a full disk: it only counts the numbers that were not written.
    """
    import numpy as np

    from likewise.session.atomic import write_atomic

    def write(descriptor: int) -> None:
        with os.fdopen(descriptor, "wb", closefd=False) as stream:
            rows = np.ascontiguousarray(embeddings.matrix())
            np.lib.format.write_array_header_1_0(
                stream, np.lib.format.header_data_from_array_1_0(rows)
            )
            stream.write(rows.data)

    write_atomic(out, write)
