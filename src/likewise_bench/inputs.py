"""Input data of a run: stored vectors, embeddings of an encoder, or images."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from likewise.embedding.cache import EmbeddingCache
from likewise.embedding.embed import embed
from likewise.embedding.embeddings import Embeddings
from likewise.embedding.registry import DEFAULT_ENCODER, make_encoder
from likewise.errors import DatasetError, ImageError, LikewiseWarning
from likewise.images.collection import ImageCollection, Pixels, Skipped, summarize_skipped
from likewise.images.files import FileCollection
from likewise.images.resize import resize
from likewise.operating_system import default_cache_folder
from likewise.types import Progress, silent
from likewise_bench.datasets.archives import ArchiveCollection
from likewise_bench.datasets.base import Dataset, Indexes
from likewise_bench.spec import Parts, RunSpec


class Subset:
    """The images of `collection` at `indexes`, in that order."""

    def __init__(self, collection: ImageCollection, indexes: npt.NDArray[np.intp]) -> None:
        self.collection, self.indexes = collection, indexes

    def __len__(self) -> int:
        return len(self.indexes)

    def pixels(self, index: int) -> Pixels:
        """Return one image as RGB (h, w, 3)."""
        return self.collection.pixels(int(self.indexes[index]))

    def identity(self, index: int) -> str:
        """Return the content hash."""
        return self.collection.identity(int(self.indexes[index]))

    def name(self, index: int) -> str:
        """Return the name of the image."""
        return self.collection.name(int(self.indexes[index]))


Step = Callable[[str], Progress]  # title of a long step -> progress callback
_PIXELS = 32  # side length of images for plain k-means


def quiet(title: str) -> Progress:
    """Return a progress callback that does nothing."""
    return silent


@dataclass(frozen=True)
class Inputs:
    """Images of a run, without labels.

    Parameters
    ----------
    train, test : array, Embeddings or ImageCollection
        Input of `fit` and `predict`; `test` is None without held-out images.
    encoder : str, optional
        Encoder of the vectors; None for vectors of the data set and for images.
    parts : Parts
        The given parts without unreadable images.
    """

    train: Any
    test: Any
    encoder: str | None
    parts: Parts


def make_inputs(run: RunSpec, dataset: Dataset, parts: Parts, step: Step = quiet) -> Inputs:
    """Return the images of a run as its method needs them; embeddings are cached.

    Warns
    -----
    LikewiseWarning
        If images cannot be read; they are listed and skipped.
    """
    if dataset.vectors is not None and run.encoder is None and not run.from_scratch:
        test = dataset.vectors[parts.test] if len(parts.test) else None
        return Inputs(dataset.vectors[parts.train], test, None, parts)
    if dataset.collection is None:
        raise DatasetError(
            f"{dataset.name!r} has only vectors, no images; omit --encoder and --from-scratch."
        )
    if run.from_scratch:
        inputs, skipped = _readable_images(dataset.collection, parts, step)
    else:
        inputs, skipped = _embedded(run, dataset.collection, parts, step)
    if skipped:
        n_wanted = len(parts.train) + len(parts.test)
        warnings.warn(
            f"{len(skipped)} of the {n_wanted} images of {dataset.name!r} cannot be read and "
            f"were skipped:\n{summarize_skipped(skipped)}",
            LikewiseWarning,
            stacklevel=2,
        )
    return inputs


def _readable_images(
    collection: ImageCollection, parts: Parts, step: Step
) -> tuple[Inputs, list[Skipped]]:
    """Return the readable images, and the reasons for skipping the others.

    Only images in archives are read here; files were checked when the folder was read.
    """
    skipped: dict[int, Skipped] = {}
    if isinstance(collection, ArchiveCollection):
        wanted, report_progress = np.concatenate(parts).tolist(), step("reading images")
        for n_done, i in enumerate(wanted, start=1):
            try:
                collection.pixels(i)
            except ImageError as error:
                skipped[i] = _without_name(Skipped(collection.name(i), str(error)))
            report_progress(n_done, len(wanted))
    train, test = (part[~np.isin(part, list(skipped))] for part in parts)
    held_out = Subset(collection, test) if len(test) else None
    inputs = Inputs(Subset(collection, train), held_out, None, Parts(train, test))
    return inputs, list(skipped.values())


def _without_name(skipped: Skipped) -> Skipped:
    """Return `skipped` without the name at the beginning of its reason."""
    reason = skipped.reason.removeprefix(f"{skipped.name!r} ")
    return Skipped(skipped.name, f"is a copy: {reason}" if reason == skipped.reason else reason)


def _embedded(
    run: RunSpec, collection: ImageCollection, parts: Parts, step: Step
) -> tuple[Inputs, list[Skipped]]:
    """Return the embeddings of the readable images, and the reasons for skipping the others."""
    encoder = make_encoder(run.encoder or DEFAULT_ENCODER)
    wanted = np.concatenate(parts)
    # A folder is embedded as a whole: reduced decoding of large files needs a FileCollection.
    is_whole = isinstance(collection, FileCollection) or len(wanted) == len(collection)
    seen: ImageCollection = collection if is_whole else Subset(collection, wanted)
    found = embed(seen, encoder, EmbeddingCache(default_cache_folder()), step("embedding"))
    kept = np.arange(len(seen)) if found.positions is None else found.positions
    places = np.arange(len(seen)) if is_whole else wanted  # in `collection`
    rows = {int(position): row for row, position in enumerate(places[kept])}
    lost = zip(np.delete(places, kept), found.skipped, strict=True)
    skipped = [_without_name(one) for position, one in lost if position in wanted]
    train, test = (_readable(part, rows) for part in parts)
    inputs = Inputs(
        _rows(found, train, rows),
        _rows(found, test, rows) if len(test) else None,
        encoder.name,
        Parts(train, test),
    )
    return inputs, skipped


def _readable(part: Indexes, rows: dict[int, int]) -> Indexes:
    return np.array([i for i in part if int(i) in rows], dtype=np.intp)


def _rows(found: Embeddings, part: Indexes, rows: dict[int, int]) -> Embeddings:
    chosen = np.array([rows[int(i)] for i in part], dtype=np.intp)
    if np.array_equal(chosen, np.arange(len(found))):
        return found
    return found.take(chosen)


def for_k_means(train: Any) -> Any:
    """Return the input of plain k-means: embeddings, or pixels of downscaled images."""
    if not isinstance(train, Subset):
        return train
    small = [resize(train.pixels(i), _PIXELS).ravel() for i in range(len(train))]
    return np.stack(small).astype(np.float32)
