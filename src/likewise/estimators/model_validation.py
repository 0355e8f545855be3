"""Validation of a model folder, which may come from an untrusted source, before it is used.

`check_model_file` checks keys, types, shapes and finiteness of what a file contains, and
`check_prediction` that the model built from it predicts. Neither changes anything.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from likewise.constraints.serialization import answer_from_row
from likewise.errors import LikewiseError, MissingExtraError, ModelFileError
from likewise.estimators.params import NetworkConfig

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer

Arrays = Mapping[str, npt.NDArray[Any]]
RESULTS = ("labels_", "probabilities_", "embeddings_", "columns_")
#: Attributes of an estimator that are saved in JSON, with their types. No other one is set.
NUMBERS: Mapping[str, type] = {
    **dict.fromkeys(("seed_", "round_", "n_asked_", "n_answered_", "budget_"), int),
    **dict.fromkeys(("violations_", "n_features_in_"), int),
    "_is_warm": bool,
    "image_names_": list,
}
_KEYS: Mapping[str, type] = {
    "method": str,
    **dict.fromkeys(("parameters", "input", "numbers"), dict),
    **dict.fromkeys(("not_saved", "answers", "pseudo_links", "history"), list),
}
_PARTS = ("learner/", "questioner/")
_MAY_BE_NAN = ("learner/centres", "learner/objective:centres")  # of empty clusters
_MAX_COLUMNS, _MAX_SIDE = 2**24, 4096
_MAX_WEIGHTS = 2**26  # of one layer, unless the file itself has as many
_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, TypeError)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error that the content of a model file causes into a `ModelFileError`."""
    try:
        yield
    except (ModelFileError, MissingExtraError):
        raise
    except (LikewiseError, ValueError, RuntimeError, *_ERRORS) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise ModelFileError(
            f"{path} is damaged ({reason:.200}); save the model again, or ask for another copy."
        ) from error


def check_model_file(path: Path, arrays: Arrays, saved: Mapping[str, Any]) -> None:
    """Raise unless the content of a model folder, in the current format, is consistent.

    Raises
    ------
    ModelFileError
    """
    with reading(path):
        for key, kind in _KEYS.items():
            _require(isinstance(saved.get(key), kind), f"{key} must be a {kind.__name__}")
        are_names = all(isinstance(name, str) for name in saved["not_saved"])
        _require(are_names, "not_saved must be a list of names")
        n_images = _check_input(saved["input"])
        _check_numbers(saved["numbers"], n_images)
        _check_answers(saved, n_images)
        _check_arrays(arrays)
        _check_results(arrays, n_images)
        _check_parameters(saved["parameters"], saved["input"], arrays)


def check_prediction(path: Path, model: "InteractiveClusterer") -> None:
    """Raise unless a loaded model predicts finite probabilities of the right shape.

    It predicts two vectors of noise: arrays of the learner that do not fit together are then
    found here, not at the first prediction. Networks that read images are checked
    by their own list of weights.
    """
    if model._data.n_columns is None:
        return
    with reading(path), np.errstate(all="ignore"):
        prediction = model.learner_.predict(_noise(model))
        wanted = (2, model.probabilities_.shape[1])
        got = prediction.probabilities.shape
        _require(got == wanted, f"it predicts {got} probabilities, and not {wanted}")
        _require(len(prediction.embeddings) == 2, "it does not return one row for each image")
        _require(np.isfinite(prediction.reported).all(), "its probabilities are not finite")


def _noise(model: "InteractiveClusterer") -> Any:
    """Return two rows of noise in the shape of the model's input, patches included."""
    from likewise.embedding.embeddings import LocalFeatures, quantize
    from likewise.estimators.data import VectorData

    rng = np.random.default_rng(0)
    prefix, suffix = "visual_words.", ".mean"
    state = model.learner_.get_state()
    depths = {
        name[len(prefix) : -len(suffix)]: len(mean)
        for name, mean in state.items()
        if name.startswith(prefix) and name.endswith(suffix)
    }
    local = None
    if depths:
        patches = rng.standard_normal((2, sum(depths.values()))).astype(np.float32)
        grids = {grid: (1, depth) for grid, depth in depths.items()}
        local = LocalFeatures(quantize(patches), grids, np.arange(2))
    rows = rng.standard_normal((2, model._data.n_columns or 0)).astype(np.float32)
    return VectorData(rows, model._data.slices, local)


def _check_input(given: Mapping[str, Any]) -> int:
    """Check the description of the data; return the number of images."""
    n_images, n_columns, slices = (given.get(k) for k in ("n_images", "n_columns", "slices"))
    if not (_is_count(n_images) and n_images):
        raise ValueError("input: n_images must be an integer >= 1")
    _require(
        n_columns is None or (_is_count(n_columns) and 0 < n_columns <= _MAX_COLUMNS),
        f"input: n_columns must be null or an integer from 1 to {_MAX_COLUMNS}",
    )
    _require(isinstance(slices, dict), "input: slices must be an object")
    ends = [0]
    for part in dict(slices or {}).values():
        _require(
            isinstance(part, list) and len(part) == 2 and all(map(_is_count, part)),
            "input: a slice must be two integers",
        )
        ends += part
    _require(
        ends[-1] <= (n_columns or 0) and all(low <= high for low, high in pairwise(ends)),
        "input: slices must lie in the columns, in their order",
    )
    return int(n_images)


def _check_numbers(numbers: Mapping[str, Any], n_images: int) -> None:
    for name, kind in NUMBERS.items():
        if name in numbers:
            is_right = type(numbers[name]) is kind
            _require(is_right, f"{name} must be a {kind.__name__}, got {numbers[name]!r:.40}")
    names = numbers.get("image_names_")
    _require(
        names is None or (len(names) == n_images and all(isinstance(n, str) for n in names)),
        "image_names_ must be one string for each image",
    )


def _check_answers(saved: Mapping[str, Any], n_images: int) -> None:
    for row in saved["answers"]:
        images = answer_from_row(row).question.images
        are_images = all(_is_count(image) and image < n_images for image in images)
        _require(are_images, f"an answer is about images that it does not have: {images!r:.60}")
    for link in saved["pseudo_links"]:
        first, second, relation = link
        are_images = all(_is_count(image) and image < n_images for image in (first, second))
        _require(are_images and relation in (-1, 1), f"{link!r:.60} is not a pseudo-link")
    for entry in saved["history"]:
        is_right = isinstance(entry, dict) and all(
            isinstance(value, int | float) for value in entry.values()
        )
        _require(is_right, "history must be a list of objects with numbers")


def _check_arrays(arrays: Arrays) -> None:
    for name, array in arrays.items():
        _require(name in RESULTS or name.startswith(_PARTS), f"unknown array {name!r:.80}")
        _require(array.dtype.kind in "biuf", f"{name} has the type {array.dtype}")
        if array.dtype.kind == "f" and name not in _MAY_BE_NAN:
            _require(np.isfinite(array).all(), f"{name} has values that are not finite")


def _check_results(arrays: Arrays, n_images: int) -> None:
    for name in RESULTS:
        _require(name in arrays, f"the array {name} is missing")
    labels, probabilities, embeddings, columns = (arrays[name] for name in RESULTS)
    are_numbers = all(a.dtype.kind in "iu" for a in (labels, columns))
    _require(are_numbers, "labels_ and columns_ must be integers")
    _require(labels.shape == (n_images,), f"labels_ must have the shape ({n_images},)")
    for name, rows in (("probabilities_", probabilities), ("embeddings_", embeddings)):
        is_right = rows.ndim == 2 and len(rows) == n_images and rows.dtype.kind == "f"
        _require(is_right, f"{name} must have one row of numbers for each image")
    k = probabilities.shape[1]
    is_order = np.array_equal(np.sort(columns, axis=None), np.arange(k)) and columns.ndim == 1
    _require(is_order, f"columns_ must be the numbers 0 to {k - 1} in any order")
    _require(labels.min() >= 0 and labels.max() < k, f"labels_ must be from 0 to {k - 1}")


def _check_parameters(
    parameters: Mapping[str, Any], given: Mapping[str, Any], arrays: Arrays
) -> None:
    """Check that the network to build is not much larger than the weights in the file."""
    for name, value in parameters.items():
        is_plain = value is None or isinstance(value, bool | int | float | str | dict)
        _require(is_plain, f"parameter {name!r:.80} must be a single value")
        if isinstance(value, float):
            _require(math.isfinite(value), f"parameter {name!r:.80} must be finite")
    architecture = {**vars(NetworkConfig()), **(parameters.get("architecture") or {})}
    widths = [architecture[name] for name in ("n_features", "n_hidden", "n_projection")]
    _require(all(map(_is_count, widths)), "the widths of the network must be integers")
    side = architecture["size"]
    _require(_is_count(side) and side <= _MAX_SIDE, f"size must be at most {_MAX_SIDE} pixels")
    n_values = sum(array.size for array in arrays.values())
    n_weights = max(widths) * max(*widths, given["n_columns"] or 1)
    _require(
        n_weights <= max(_MAX_WEIGHTS, n_values), "the network is larger than the weights given"
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _require(condition: Any, reason: str) -> None:
    if not condition:
        raise ValueError(reason)
