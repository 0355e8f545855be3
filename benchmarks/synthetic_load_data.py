"""Synthetic load data: many tiny images with precomputed vectors."""

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embeddings import grid_widths, patch_grids
from likewise.embedding.registry import make_encoder
from likewise.random_streams import stream
from likewise.session.create import EMBEDDINGS

_A_FOLDER = 1_000  # images in each folder
_SPREAD = 6.0  # of the vectors of a group, in units of the distance of two of them


def paint(folder: Path, n_images: int, n_groups: int) -> list[Path]:
    """Write distinct images; each file name begins with the number of its group."""
    groups = stream(0, "tiny pictures").integers(n_groups, size=n_images).tolist()
    paths = []
    for number, group in enumerate(groups):
        place = folder / f"{number // _A_FOLDER:03}"
        place.mkdir(parents=True, exist_ok=True)
        paths.append(place / f"{group}-{number:06}.png")
        paths[-1].write_bytes(_picture(number, group, n_groups))
    return paths


def group_of(name: str) -> str:
    """Return the group encoded in a file name.

    Examples
    --------
    >>> group_of("017/3-017042.png")
    '3'
    """
    return name.rsplit("/", 1)[-1].split("-", maxsplit=1)[0]


def keep_vectors(session: Path, identities: list[str], names: list[str], encoder: str) -> None:
    """Write synthetic vectors into the session's embedding cache."""
    made = make_encoder(encoder)
    rng = stream(0, "tiny vectors")
    groups = np.array([int(group_of(name)) for name in names])
    width = sum(made.blocks.values())
    centres = rng.normal(size=(groups.max() + 1, width)).astype(np.float32)
    store, n_bytes = (
        EmbeddingCache(session / EMBEDDINGS),
        sum(grid_widths(patch_grids(made)).values()),
    )
    shelf, places = store.vectors(made), store.local_features(made) if n_bytes else None
    for start in range(0, len(names), _A_FOLDER):
        part = identities[start : start + _A_FOLDER]
        shelf.add(part, _around(centres[groups[start : start + len(part)]], rng))
        if places is not None:
            places.add(part, rng.integers(0, 256, (len(part), n_bytes), dtype=np.uint8))


def _around(centres: npt.NDArray[np.float32], rng: np.random.Generator) -> npt.NDArray[np.float32]:
    noise = rng.normal(size=centres.shape).astype(np.float32)
    vectors = np.maximum(centres + _SPREAD * noise, 0)  # as after a network's last rectifier
    return np.asarray(vectors, dtype=np.float32)


def _picture(number: int, group: int, n_groups: int) -> bytes:
    """Return a PNG whose first pixels encode its number."""
    pixels = np.full((8, 8, 3), 255 * group // n_groups, dtype=np.uint8)
    pixels[0, :4, 0] = np.frombuffer(number.to_bytes(4, "big"), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png", compress_level=1)
    return file.getvalue()
