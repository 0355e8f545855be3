"""How numbers are kept: what is computed now must equal what is read back later."""

import numpy as np

from likewise.encoders.encoder import Encoder
from likewise.encoders.row_file import Rows

_LARGEST_HALF = 65504.0


def storage_of(encoder: Encoder) -> str:
    """Return the type in which an encoder wants its vectors kept, exact unless it says so."""
    dtype: str = getattr(encoder, "storage", "float32")
    return dtype


def rounded(vectors: Rows, dtype: str) -> Rows:
    """Return `vectors` as they are kept; what is too large for float16 stops at its end."""
    if dtype == "float16":
        vectors = np.clip(vectors, -_LARGEST_HALF, _LARGEST_HALF)
    return vectors.astype(dtype)
