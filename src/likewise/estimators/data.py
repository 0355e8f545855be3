"""Training data of an estimator: the `Data` protocol, vectors in feature blocks, their scaling."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from likewise.errors import InvalidParameterError, LikewiseError
from likewise.types import Floats, Indexes

if TYPE_CHECKING:
    from likewise.embedding.embeddings import LocalFeatures
    from likewise.images.collection import ImageCollection

Check = Callable[[Any], npt.NDArray[np.float32]]  # from any matrix to one that can be used
Reader = Callable[..., tuple["Data", "ImageCollection | None"]]

#: Module and function, imported when first used: estimators that are fitted to arrays of vectors
#: import neither image files nor encoders.
INPUT_READER = "likewise.estimators.read_input:read_input"
_N_SAMPLED = 20_000  # rows from which `BlockScaler` estimates mean and standard deviation


@dataclass(frozen=True)
class InputSpec:
    """What an estimator makes of the input given to it.

    Parameters
    ----------
    encoder : str or Encoder, optional
        Turns images into vectors; the bundled one if None.
    image_size : int, optional
        Side length in pixels of the images that the estimator trains on itself; None if
        images are embedded by `encoder`.
    accepts_vectors : bool
        Whether the estimator can be fitted to vectors.
    words : tuple of str
        Words whose similarity to each image is one more feature block.
    """

    encoder: Any = None
    image_size: int | None = None
    accepts_vectors: bool = True
    words: tuple[str, ...] = ()

    def read(
        self, X: Any, check: "Check", *, allow_download: bool = True
    ) -> tuple["Data", "ImageCollection | None"]:
        """Return `X` as data, and the images if it is not vectors."""
        is_matrix = isinstance(X, np.ndarray) and X.ndim == 2
        if self.accepts_vectors and is_matrix and not self.words:
            return VectorData(check(X)), None
        module, name = INPUT_READER.split(":")
        read_input: Reader = getattr(import_module(module), name)
        return read_input(X, self, check, allow_download=allow_download)


class Data(Protocol):
    """A collection of images, as vectors or as pixels, read in batches.

    Attributes
    ----------
    n_columns : int or None
        Number of columns of the vectors; None if the data are images.
    slices : mapping of str to slice
        Columns of each feature block.
    """

    slices: Mapping[str, slice]
    n_columns: int | None

    def __len__(self) -> int:
        """Return the number of images."""

    def batch(self, indexes: Indexes) -> npt.NDArray[Any]:
        """Return vectors ``(b, d)`` float32, or images ``(b, s, s, 3)`` uint8."""


class VectorData:
    """Vectors in memory or memory-mapped.

    Parameters
    ----------
    matrix : array of shape (n, d)
    slices : mapping of str to slice, optional
        Columns of each feature block; one block if None.
    local_features : LocalFeatures, optional
        Features of image patches, where the encoder provides them.
    """

    def __init__(
        self,
        matrix: npt.NDArray[Any],
        slices: Mapping[str, slice] | None = None,
        local_features: "LocalFeatures | None" = None,
    ) -> None:
        self.matrix = matrix
        self.local_features = local_features
        self.n_columns: int | None = matrix.shape[1]
        self.slices: Mapping[str, slice] = dict(slices or {"all": slice(0, matrix.shape[1])})

    def __len__(self) -> int:
        return len(self.matrix)

    def batch(self, indexes: Indexes) -> npt.NDArray[np.float32]:
        """Return the vectors of `indexes`, ``(b, d)``."""
        return np.ascontiguousarray(self.matrix[indexes], dtype=np.float32)

    def blocks(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of each feature block, as views."""
        return {name: self.matrix[:, columns] for name, columns in self.slices.items()}


class MissingData:
    """The shape of the data that a loaded model was trained on, without the data.

    Parameters
    ----------
    description : mapping
        As returned by `describe_data`.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._n_images = int(description["n_images"])
        self.n_columns: int | None = description["n_columns"]
        self.slices: Mapping[str, slice] = {
            name: slice(start, stop) for name, (start, stop) in description["slices"].items()
        }

    def __len__(self) -> int:
        return self._n_images

    def batch(self, indexes: Indexes) -> npt.NDArray[Any]:
        """Raise: the data are not there."""
        raise LikewiseError(
            "This model was loaded without its images: it can predict, but not train. "
            "To continue training, call fit with the images and checkpoint=."
        )


def check_same_kind(data: Data, fitted: Data) -> None:
    """Raise unless both are images, or vectors with the same feature blocks.

    A plain matrix gets the feature blocks of the vectors that the model was fitted to.
    """
    if (data.n_columns is None) != (fitted.n_columns is None):
        kinds = ("images", "vectors") if data.n_columns is None else ("vectors", "images")
        raise InvalidParameterError(
            f"The model was fitted to {kinds[1]}, got {kinds[0]}; give {kinds[1]}"
            + (", or set encoder= to embed images." if kinds[0] == "images" else ".")
        )
    if dict(data.slices) == dict(fitted.slices) or not isinstance(data, VectorData):
        return
    if len(data.slices) > 1 and len(fitted.slices) > 1:
        raise InvalidParameterError(
            f"The model was fitted to vectors with the feature blocks {', '.join(fitted.slices)}, "
            f"got {', '.join(data.slices)}; use the same encoder."
        )
    data.slices = dict(fitted.slices)


def describe_data(data: Data) -> dict[str, Any]:
    """Return the shape of `data` and a fingerprint of its content, to compare checkpoints by."""
    description = {
        "n_images": len(data),
        "n_columns": data.n_columns,
        "slices": {name: [part.start, part.stop] for name, part in data.slices.items()},
    }
    if isinstance(data, MissingData):
        return description
    return {**description, "fingerprint": fingerprint(data)}


def fingerprint(data: Data) -> str:
    """Return a hash of at most 64 evenly spaced images or vectors."""
    sample = np.linspace(0, len(data) - 1, num=min(64, len(data))).astype(np.intp)
    rows = data.batch(sample)
    if data.n_columns is None:
        rows = rows.transpose(0, 3, 1, 2)  # channels first, as in checkpoints of release 0.1
    return hashlib.sha256(rows.tobytes()).hexdigest()[:16]


class BlockScaler:
    r"""Standardise columns and give feature blocks equal weight.

    Parameters
    ----------
    slices : mapping of str to slice
        Columns of each feature block.
    n_columns : int

    Attributes
    ----------
    mean, scale : array of shape (n_columns,)

    Notes
    -----
    Column :math:`c` of block :math:`f` with :math:`d_f` columns becomes
    :math:`(x_c - \mu_c) / \sigma_c \cdot \sqrt{d / (F d_f)}`, so that each of the :math:`F`
    blocks contributes the same to a squared distance. With one block this is plain
    standardisation.
    """

    def __init__(self, slices: Mapping[str, slice], n_columns: int) -> None:
        self.slices: dict[str, slice] = dict(slices)
        self.mean: Floats = np.zeros(n_columns, dtype=np.float32)
        self.scale: Floats = np.ones(n_columns, dtype=np.float32)

    def fit(self, matrix: npt.NDArray[np.floating], *, n_sampled: int = _N_SAMPLED) -> Self:
        """Estimate mean and scale from at most `n_sampled` evenly spaced rows of `matrix`."""
        step = -(-len(matrix) // n_sampled)
        sample = np.asarray(matrix[::step], dtype=np.float64)
        mean, std = sample.mean(axis=0), sample.std(axis=0)
        n_columns = matrix.shape[1]
        weight = np.ones(n_columns)
        for columns in self.slices.values():
            width = columns.stop - columns.start
            weight[columns] = np.sqrt(n_columns / (len(self.slices) * width))
        # A constant column becomes zero; dividing by its rounding error would give noise.
        is_constant = std <= 1e-7 * np.maximum(1.0, np.abs(mean))
        scale = np.where(is_constant, 0.0, weight / np.where(is_constant, 1.0, std))
        self.mean, self.scale = mean.astype(np.float32), scale.astype(np.float32)
        return self

    def transform(self, rows: Floats) -> Floats:
        """Return scaled rows, ``(n, d)``."""
        return (rows - self.mean) * self.scale
