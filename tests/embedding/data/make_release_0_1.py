"""Write the vectors and the cache of release 0.1 for four generated images.

Kept for the record; it runs with the code of release 0.1 only:

    PYTHONPATH=OLD/src python make_release_0_1.py
"""

from importlib import import_module
from pathlib import Path

import numpy as np
from PIL import Image

OLD = "likewise." + "encoders"  # in two parts, so that no renaming tool changes it
FOLDER = Path(__file__).parent
CACHE_VARIANT, CACHE_SIZE = "lite0", 32


def main() -> None:
    """Write ``release_0_1.npz`` and ``cache_release_0_1/``."""
    make_encoder = import_module(f"{OLD}.bundled").LiteEncoder
    rng = import_module("likewise.seeds").stream(0, "release 0.1")
    coarse = rng.integers(0, 256, (4, 6, 8, 3), dtype=np.uint8)
    images = np.stack(
        [np.asarray(Image.fromarray(c).resize((64, 48), Image.Resampling.BICUBIC)) for c in coarse]
    )
    arrays = {"images": images}
    for variant, size in (("lite0", 70), ("lite2", 160)):
        for name, vectors in make_encoder(variant, size).encode(list(images)).items():
            is_float = vectors.dtype == np.float32
            arrays[f"{variant}.{name}"] = vectors.astype(np.float16) if is_float else vectors
    np.savez_compressed(FOLDER / "release_0_1.npz", **arrays)
    store = import_module(f"{OLD}.store").EmbeddingStore(FOLDER / "cache_release_0_1")
    collection = import_module("likewise.images.in_memory").ArrayCollection(images)
    import_module(f"{OLD}.embed").embed(collection, make_encoder(CACHE_VARIANT, CACHE_SIZE), store)


if __name__ == "__main__":
    main()
