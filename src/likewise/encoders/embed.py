"""From a collection to its vectors: what is already kept is read, the rest is computed."""

from collections.abc import Sequence

import numpy as np

from likewise.encoders.decoding import decode_ahead, reader
from likewise.encoders.embeddings import Embeddings
from likewise.encoders.encoder import Encoder
from likewise.encoders.kept import Kept
from likewise.encoders.store import EmbeddingStore
from likewise.images.collection import ImageCollection
from likewise.images.unreadable import Skipped
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
    everything = Kept(encoder, store, len(set(identities)))
    broken = _compute(collection, identities, encoder, everything, progress)
    kept = [i for i, identity in enumerate(identities) if identity in everything.vectors]
    skipped = [
        Skipped(collection.name(i), broken[identity])
        for i, identity in enumerate(identities)
        if identity not in everything.vectors
    ]
    names = [identities[i] for i in kept]
    vectors, places = everything.vectors.read(names), everything.places(names)
    positions = np.array(kept, dtype=np.intp)
    return Embeddings.split(vectors, encoder.facets, skipped, positions, places)


def _compute(
    collection: ImageCollection,
    identities: Sequence[str],
    encoder: Encoder,
    kept: Kept,
    progress: Progress,
) -> dict[str, str]:
    """Add what is missing to what is kept; return why, for each identity that cannot be."""
    missing = {name: i for i, name in reversed(list(enumerate(identities))) if name not in kept}
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
            kept.add(list(pictures), encoder.encode(list(pictures.values())))
        done += len(batch)
        progress(done, len(identities))
    return broken
