"""Predict the groups of many images or vectors in shards: the task of `likewise predict -o DIR`."""

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.embedding.embed import embed
from likewise.embedding.shard_run import encoder_of, for_each_batch, names_and_hashes, positions_of
from likewise.embedding.shards import Shard
from likewise.embedding.vector_source import VectorSource, as_embeddings
from likewise.errors import InvalidParameterError
from likewise.estimators.registry import load_method
from likewise.images.collection import Skipped
from likewise.images.encoded import EncodedCollection, FilesBelow
from likewise.types import Floats

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer


@dataclass(frozen=True)
class PackedModel:
    """A saved model as bytes, which can be sent to other processes and machines.

    Parameters
    ----------
    content : bytes
    groups : mapping of int to str
        Names of the clusters that have one.
    encoder : str
    """

    content: bytes
    groups: Mapping[int, str]
    encoder: str

    @classmethod
    def pack(cls, model: "InteractiveClusterer", groups: Mapping[int, str]) -> "PackedModel":
        """Return a trained model as bytes."""
        packed = io.BytesIO()
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
            model.save(Path(folder, "model"))
            for path in sorted(Path(folder, "model").rglob("*")):
                # A fixed time: equal models have equal bytes.
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                archive.writestr(info, path.read_bytes())
        return cls(packed.getvalue(), dict(groups), str(model.get_params().get("encoder")))

    @property
    def key(self) -> str:
        """Return a hash of the model and the names of its groups."""
        names = repr(sorted(self.groups.items())).encode("utf-8", "surrogatepass")
        return hashlib.sha256(self.content + names).hexdigest()[:16]


@lru_cache(maxsize=2)
def _unpack(content: bytes) -> "InteractiveClusterer":
    """Return the model of some bytes, loaded once in each process."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            archive.extractall(folder)
        return load_method(Path(folder, "model"))


class PredictTask:
    """Predicts groups: columns ``name``, ``hash``, ``cluster``, ``group`` and ``confidence``.

    Parameters
    ----------
    source : FilesBelow or VectorSource
        Inputs are the names of images, or of files with vectors.
    packed : PackedModel
    """

    def __init__(self, source: "FilesBelow | VectorSource", packed: PackedModel) -> None:
        self._source, self._packed = source, packed

    @property
    def made_by(self) -> dict[str, Any]:
        """Return the key of the model."""
        return {"model": self._packed.key}

    def __call__(self, inputs: Sequence[str]) -> Shard:
        """Return the predictions for the images with these names, or the rows of these files."""
        model = _unpack(self._packed.content)
        if isinstance(self._source, VectorSource):
            return self._of_vectors(model, self._source, inputs)
        parts: list[Floats] = []

        def predict(images: EncodedCollection) -> tuple[list[int], list[Skipped]]:
            if model.get_params().get("backbone") is not None:
                parts.append(model.predict_proba(images))
                return list(range(len(images))), []
            found = embed(images, encoder_of(self._packed.encoder))
            if len(found):
                parts.append(model.predict_proba(found))
            return positions_of(found), list(found.skipped)

        rows, skipped = for_each_batch(self._source, inputs, predict)
        return Shard({**names_and_hashes(rows), **self._columns(parts)}, skipped)

    def _of_vectors(
        self, model: "InteractiveClusterer", source: "VectorSource", inputs: Sequence[str]
    ) -> Shard:
        parts: list[Floats] = []
        rows: list[tuple[str, str]] = []
        for one in inputs:
            for batch in source.batches(one):
                _check_width(model, batch.matrix.shape[1], source.place)
                parts.append(model.predict_proba(as_embeddings(batch.matrix, source.blocks)))
                rows += zip(batch.names, batch.hashes, strict=True)
        return Shard({**names_and_hashes(rows), **self._columns(parts)}, inputs=inputs)

    def _columns(self, parts: Sequence[Floats]) -> dict[str, Any]:
        clusters = [row.argmax(axis=1) for row in parts]
        sure = [row.max(axis=1) for row in parts]
        cluster = np.concatenate([np.empty(0, np.int32), *clusters]).astype(np.int32)
        names = self._packed.groups
        return {
            "cluster": cluster,
            "group": [names.get(int(one), "") for one in cluster],
            "confidence": np.concatenate([np.empty(0, np.float32), *sure]).astype(np.float32),
        }


def _check_width(model: "InteractiveClusterer", width: int, place: str) -> None:
    """Raise if the model cannot predict vectors of this length."""
    expected = getattr(model, "n_features_in_", None) or width
    if expected != width:
        raise InvalidParameterError(
            f"The model needs vectors of length {expected}, but those in {place} have "
            f"{width}; use the same encoder."
        )
