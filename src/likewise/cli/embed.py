"""`likewise embed`: write the embeddings of an image folder for other programs."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from likewise.cli.console import check_new_path, count_noun, print_json, print_line, replace_file
from likewise.cli.options import AsJson, EncoderName, ImageSource, Offline
from likewise.cli.sessions import check_image_folder, local_images
from likewise.cli.shards import (
    Engine,
    EngineName,
    GpusPerWorker,
    Workers,
    compute_shards,
    image_names,
    print_result,
)
from likewise.errors import InvalidParameterError

if TYPE_CHECKING:
    from likewise.embedding.embeddings import Embeddings
    from likewise.images.files import FolderCollection


def embed(
    source: ImageSource,
    out: Annotated[
        str,
        typer.Option(
            "-o", "--out", metavar="FILE.npy|DIR", help="NumPy file, or folder of Parquet files."
        ),
    ],
    encoder: EncoderName = None,
    offline: Offline = False,
    engine: EngineName = "local",
    workers: Workers = None,
    gpus_per_worker: GpusPerWorker = 0,
    as_json: AsJson = False,
) -> None:
    """Write one embedding for each image, to a NumPy file or to a folder of Parquet files.

    FILE.json next to FILE.npy contains the image name of each row and the columns of each
    feature block. Embeddings are cached ($LIKEWISE_CACHE, by default the user's cache folder),
    so the next run is fast, and an interrupted run continues where it stopped.

    A folder DIR, which may be an address such as s3://bucket/vectors, gets Parquet files with
    name, content hash and vector of each image. It needs no cache, and with --engine ray all
    processors of a cluster work on it. The next run computes only the images that are not there.

    \b
    Example:
        likewise embed photos/ -o photos.npy
        likewise embed s3://bucket/photos -o s3://bucket/vectors --engine ray
    """
    from likewise.embedding.registry import DEFAULT_ENCODER, check_encoder
    from likewise.embedding.shard_run import EmbedTask
    from likewise.embedding.shards import ShardFolder, check_parquet

    encoder = encoder or DEFAULT_ENCODER
    chosen = Engine(engine, workers, gpus_per_worker, (source, out))
    if out.lower().endswith(".npy"):
        if engine != "local":
            raise InvalidParameterError(
                f"--engine {engine} writes a folder of Parquet files, got -o {out}; give a folder "
                "or an address."
            )
        _embed_to_matrix(source, Path(out), encoder, as_json=as_json)
        return
    check_parquet(f"The folder {out}")
    check_encoder(encoder)
    files, inputs, skipped = image_names(source)
    result = compute_shards(
        chosen, EmbedTask(files, encoder), inputs, ShardFolder(out), "embedding"
    )
    result["skipped"] = [*skipped, *result["skipped"]]
    print_result(result, "embedding", as_json=as_json)


def _embed_to_matrix(source: str, out: Path, encoder: str, *, as_json: bool) -> None:
    """Write all embeddings as one NumPy file."""
    from likewise.cli.console import ProgressBars
    from likewise.cli.sessions import embed_images, embedding_cache, read_images, skipped_as_json
    from likewise.embedding.registry import check_encoder

    description = out.with_suffix(".json")
    folder = local_images(source)
    check_image_folder(folder, "embed", takes_session=False)
    check_new_path(out)
    check_new_path(description)
    check_encoder(encoder)
    with ProgressBars() as bars:
        collection = read_images(folder, bars)
        embeddings = embed_images(collection, encoder, embedding_cache(), bars)
    content = json.dumps(_describe(embeddings, collection, encoder), ensure_ascii=False, indent=1)
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
