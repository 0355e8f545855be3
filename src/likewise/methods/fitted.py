"""A fitted method, read out: predict, transform, save; what scikit-learn and files need."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from likewise.embedding.embeddings import Embeddings
from likewise.images.collection import ImageCollection
from likewise.methods.saving import load, save
from likewise.methods.source import (
    Source,
    VectorSource,
    encode_pictures,
    is_vectors,
    look_at,
    source_facts,
)

Floats = npt.NDArray[np.float32]


class FittedEstimator(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]  # scikit-learn has no types
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """The half of every method that works on images never seen; `PersonalClusterer` learns."""

    _reads_vectors = True  # where they are given; a network from scratch wants pictures

    labels_: npt.NDArray[np.intp]
    probabilities_: Floats
    _settings: SimpleNamespace
    _source: Source
    _columns: npt.NDArray[np.intp]
    _embeddings: Floats

    @abstractmethod
    def _read_out(self, source: Source) -> tuple[Floats, Floats]:
        """Return embeddings ``(n, d)`` and probabilities ``(n, k)``, image by image."""

    @abstractmethod
    def fit(self, X: Any, y: object = None, **given: Any) -> Self:
        """Cluster `X`."""

    def _tempered(self, probabilities: Floats) -> Floats:
        """Return probabilities as sure as experience allows; as they are where there is none."""
        return probabilities

    # -- reading it out -----------------------------------------------------

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the cluster of each image of `X`; no image depends on the others."""
        found: npt.NDArray[np.intp] = self.predict_proba(X).argmax(axis=1)
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each cluster for each image of `X`."""
        check_is_fitted(self, "labels_")
        probabilities = self._read_out(self._read(X, reset=False))[1][:, self._columns]
        return self._tempered(probabilities)

    def transform(self, X: Any) -> Floats:
        """Return the learned representation of each image of `X`, unit rows."""
        check_is_fitted(self, "labels_")
        return self._read_out(self._read(X, reset=False))[0]

    def fit_transform(self, X: Any, y: object = None, **fit_params: Any) -> Floats:
        """Fit to `X` and return its learned representation."""
        return self.fit(X, y, **fit_params).transform(X)

    def fit_predict(self, X: Any, y: object = None, **fit_params: Any) -> npt.NDArray[np.intp]:
        """Fit to `X` and return `labels_`."""
        labels: npt.NDArray[np.intp] = self.fit(X, y, **fit_params).labels_
        return labels

    def renumber(self, order: npt.NDArray[np.intp]) -> Self:
        """Give the clusters other numbers: what was ``order[i]`` is `i` from now on.

        Predictions follow; the next training numbers them anew.
        """
        self._columns = self._columns[order]
        self.probabilities_ = self.probabilities_[:, order]
        self.labels_ = np.argsort(order)[self.labels_]
        return self

    def save(self, path: str | Path) -> None:
        """Write the model to the folder `path`: safetensors and JSON, never pickle."""
        check_is_fitted(self, "labels_")
        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, **parts: Any) -> Self:
        """Return a model written by `save`; `parts` are parameters that are no JSON."""
        model = load(Path(path), cls, parts)
        assert isinstance(model, cls)  # `load` refuses models of another method
        return model

    # -- what it is given -----------------------------------------------------

    def _read(self, X: Any, *, reset: bool) -> Source:
        """Return the source for `X`, checked; `reset` when it is the collection to learn from."""
        if reset:
            self.__dict__.pop("image_names_", None)
        if self._reads_vectors and is_vectors(X):
            return self._read_vectors(X, reset=reset)
        collection = look_at(X)
        if reset:
            self.image_names_ = [collection.name(i) for i in range(len(collection))]
        return self._read_pictures(collection, reset=reset)

    def _read_pictures(self, collection: ImageCollection, *, reset: bool) -> Source:
        """Return the source for pictures: here their vectors."""
        return self._read_vectors(encode_pictures(collection, self._settings.encoder), reset=reset)

    def _read_vectors(self, X: Any, *, reset: bool) -> Source:
        is_known = isinstance(X, Embeddings)
        matrix = X.matrix() if is_known else X
        checked = validate_data(self, matrix, reset=reset, dtype=np.float32, copy=False)
        return (
            VectorSource(checked, X.slices, X.local_features) if is_known else VectorSource(checked)
        )

    # -- on disk: see saving.py ---------------------------------------------

    def _input_facts(self) -> dict[str, Any]:
        return source_facts(self._source)

    def _modules_to_save(self) -> dict[str, Any]:
        """Return networks and optimisers by name."""
        return {}

    def _extra_arrays(self) -> dict[str, Any]:
        """Return further arrays that belong to the fitted state; None is left out."""
        return {}

    def _take_extra_arrays(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `_extra_arrays` returned."""

    # -- for scikit-learn ----------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return int(self._embeddings.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")
