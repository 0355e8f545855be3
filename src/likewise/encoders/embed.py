"""From a collection to its vectors: what is already kept is read, the rest is computed."""

from collections.abc import Mapping, Sequence

import numpy as np

from likewise.encoders.decoding import decode_ahead, reader
from likewise.encoders.embeddings import Embeddings
from likewise.encoders.encoder import Encoder, Floats
from likewise.encoders.shelf import Shelf
from likewise.encoders.store import EmbeddingStore, Scratch
from likewise.errors import EncoderError
from likewise.images.collection import ImageCollection
from likewise.images.skipped import Skipped
from likewise.progress import Progress, silent

__all__ = ["Embeddings", "embed"]

_PREPARED, _UNPREPARED = 64, 8  # pictures at a time; what is not prepared may be large


def embed(
    collection: ImageCollection,
    encoder: Encoder,
    store: EmbeddingStore | None = None,
    progress: Progress = silent,
) -> Embeddings:
    """Return the vectors of all images that can be read.

    Parameters
    ----------
    collection : ImageCollection
    encoder : Encoder
        If it has a method ``prepare(pixels) -> pixels``, that is called while decoding,
        in threads.
    store : EmbeddingStore, optional
        Vectors found there are not computed again, and new ones are kept as they come,
        so that an interrupted run goes on where it stopped. None keeps nothing.
    progress : Progress
        Told how many images have a vector.

    Returns
    -------
    embeddings : Embeddings
        Broken pictures are in `skipped` and have no row.

    Raises
    ------
    EncoderError
        If the encoder does not give one finite vector an image, the vectors in the store
        have another length, or the disk is full.
    """
    identities = [collection.identity(i) for i in range(len(collection))]
    shelf = Scratch(encoder, len(set(identities))) if store is None else store.shelf(encoder)
    broken = _compute(collection, identities, encoder, shelf, progress)
    kept = [i for i, identity in enumerate(identities) if identity in shelf]
    skipped = [
        Skipped(collection.name(i), broken[identity])
        for i, identity in enumerate(identities)
        if identity not in shelf
    ]
    vectors = shelf.read([identities[i] for i in kept])
    positions = np.array(kept, dtype=np.intp)
    return Embeddings.split(vectors, encoder.facets, skipped, positions)


def _compute(
    collection: ImageCollection,
    identities: Sequence[str],
    encoder: Encoder,
    shelf: Shelf | Scratch,
    progress: Progress,
) -> dict[str, str]:
    """Add what is missing to the shelf; return the reason for each identity that cannot be."""
    missing = {name: i for i, name in reversed(list(enumerate(identities))) if name not in shelf}
    positions = sorted(missing.values())  # of the first copy of each picture
    broken: dict[str, str] = {}
    done = len(identities) - len(positions)
    batch_size = _PREPARED if hasattr(encoder, "prepare") else _UNPREPARED
    progress(done, len(identities))
    for batch, decoded in decode_ahead(reader(collection, encoder), positions, batch_size):
        names = [identities[i] for i in batch]
        broken |= {
            n: d.reason for n, d in zip(names, decoded, strict=True) if isinstance(d, Skipped)
        }
        pictures = {n: d for n, d in zip(names, decoded, strict=True) if not isinstance(d, Skipped)}
        if pictures:
            found = encoder.encode(list(pictures.values()))
            shelf.add(list(pictures), joined(found, encoder, len(pictures)))
        done += len(batch)
        progress(done, len(identities))
    return broken


def joined(found: Mapping[str, Floats], encoder: Encoder, n_images: int) -> Floats:
    """Return the facets side by side, or say in what way they are not what was promised."""
    for facet, width in encoder.facets.items():
        shape = np.shape(found[facet]) if facet in found else None
        if shape != (n_images, width):
            raise EncoderError(
                f"The encoder {encoder.name!r} gave {shape} for the facet {facet!r} of {n_images} "
                f"pictures, not ({n_images}, {width}); an encoder gives one vector an image."
            )
    vectors = np.concatenate([found[facet] for facet in encoder.facets], axis=1, dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise EncoderError(
            f"The encoder {encoder.name!r} gave NaN or infinite numbers; "
            "check its weights and the scale of its input."
        )
    return vectors
