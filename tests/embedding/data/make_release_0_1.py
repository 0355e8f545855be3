"""Write the vectors and the cache of release 0.1 for four generated images.

Run with release 0.1 on the path, from this folder:
    PYTHONPATH=/tmp/old/src python make_release_0_1.py
"""

from pathlib import Path

import numpy as np
from likewise.encoders.bundled import LiteEncoder
from likewise.encoders.embed import embed
from likewise.encoders.store import EmbeddingStore
from likewise.images.arrays import ArrayCollection
from likewise.seeds import stream
from PIL import Image

FOLDER = Path(__file__).parent
CACHE_VARIANT, CACHE_SIZE = "lite0", 32


def main() -> None:
    rng = stream(0, "release 0.1")
    coarse = rng.integers(0, 256, (4, 6, 8, 3), dtype=np.uint8)
    images = np.stack(
        [np.asarray(Image.fromarray(c).resize((64, 48), Image.Resampling.BICUBIC)) for c in coarse]
    )
    arrays = {"images": images}
    for variant, size in (("lite0", 70), ("lite2", 160)):
        for name, vectors in LiteEncoder(variant, size).encode(list(images)).items():
            is_float = vectors.dtype == np.float32
            arrays[f"{variant}.{name}"] = vectors.astype(np.float16) if is_float else vectors
    np.savez_compressed(FOLDER / "release_0_1.npz", **arrays)
    store = EmbeddingStore(FOLDER / "cache_release_0_1")
    embed(ArrayCollection(images), LiteEncoder(CACHE_VARIANT, CACHE_SIZE), store)


if __name__ == "__main__":
    main()
