"""What is kept of one encoder: a vector an image and, where it tells, what each place shows."""

from collections.abc import Mapping, Sequence

import numpy as np

from likewise.encoders.encoder import Bytes, Encoder, Floats
from likewise.encoders.places import Places, grids_of, widths
from likewise.encoders.rounding import storage_of
from likewise.encoders.row_file import Rows
from likewise.encoders.shelf import Shelf
from likewise.encoders.store import EmbeddingStore, Scratch
from likewise.errors import EncoderError


class Kept:
    """Vectors and places of pictures, by content; on disk, or in memory for once.

    Parameters
    ----------
    encoder : Encoder
    store : EmbeddingStore, optional
        None keeps nothing.
    n_images : int
        At most so many will be added.
    """

    def __init__(self, encoder: Encoder, store: EmbeddingStore | None, n_images: int) -> None:
        self._encoder, self._grids = encoder, grids_of(encoder)
        self.vectors: Shelf | Scratch
        self._places: Shelf | Scratch | None = None
        if store is None:
            width, kind = sum(encoder.facets.values()), storage_of(encoder)
            self.vectors = Scratch(width, kind, n_images)
            if self._grids:
                self._places = Scratch(sum(widths(self._grids).values()), "uint8", n_images)
        else:
            self.vectors = store.shelf(encoder)
            if self._grids:
                self._places = store.places(encoder)

    def __contains__(self, identity: str) -> bool:
        """Return whether everything about a picture is here."""
        has_places = self._places is None or identity in self._places
        return has_places and identity in self.vectors

    def add(self, identities: Sequence[str], found: Mapping[str, Floats | Bytes]) -> None:
        """Keep what the encoder gave for some pictures."""
        n_images = len(identities)
        vectors = joined(found, self._encoder, self._encoder.facets, n_images)
        if not np.isfinite(vectors).all():
            raise EncoderError(
                f"The encoder {self._encoder.name!r} gave NaN or infinite numbers; "
                "check its weights and the scale of its input."
            )
        if self._places is not None:
            places = joined(found, self._encoder, widths(self._grids), n_images, "uint8")
            self._places.add(identities, places)
        self.vectors.add(identities, vectors)

    def places(self, identities: Sequence[str]) -> Places | None:
        """Return the places of pictures; None if there are none, or not of all of them.

        A picture may have vectors from an earlier release and no places, and be gone by now.
        """
        if self._places is None or not all(name in self._places for name in identities):
            return None
        rows, images = self._places.look_up(identities)
        assert rows.dtype == np.uint8  # as they were kept
        return Places(rows.view(np.uint8), self._grids, images)


def joined(
    found: Mapping[str, Floats | Bytes],
    encoder: Encoder,
    wanted: Mapping[str, int],
    n_images: int,
    dtype: str = "float32",
) -> Rows:
    """Return what is wanted side by side, or say in what way it is not what was promised."""
    for name, width in wanted.items():
        shape = np.shape(found[name]) if name in found else None
        if shape != (n_images, width):
            raise EncoderError(
                f"The encoder {encoder.name!r} gave {shape} for the facet {name!r} of {n_images} "
                f"pictures, not ({n_images}, {width}); an encoder gives one vector an image."
            )
    rows: Rows = np.concatenate([found[name] for name in wanted], axis=1).astype(dtype, copy=False)
    return rows
