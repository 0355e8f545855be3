"""Save and load models and checkpoints as safetensors and JSON, without pickle or torch."""

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from likewise import __version__
from likewise.constraints.question import Relation
from likewise.constraints.serialization import answer_from_row, answer_to_row
from likewise.errors import ModelFileError
from likewise.estimators.data import describe_data
from likewise.estimators.model_validation import (
    NUMBERS,
    RESULTS,
    check_model_file,
    check_prediction,
    reading,
)
from likewise.estimators.params import PARTS, NetworkConfig, TrainingPlan, defaults
from likewise.estimators.release_0_1 import upgrade, upgrade_parameters
from likewise.session.atomic import hidden_name, limit_permissions, make_folder

if TYPE_CHECKING:
    from likewise.estimators.base import InteractiveClusterer

FORMAT = 2  # release 0.1 wrote 1
ARRAYS_FILE, MODEL_FILE = "tensors.safetensors", "model.json"
Arrays = Mapping[str, npt.NDArray[Any]]
_MAX_DESCRIPTION = 2**28  # bytes of JSON: more than a million answers


def save(model: "InteractiveClusterer", path: Path) -> None:
    """Write everything needed to predict, and to continue training with the same images."""
    arrays = {name: getattr(model, name) for name in RESULTS}
    for part in ("learner", "questioner"):
        state = getattr(model, f"{part}_").get_state()
        arrays.update({f"{part}/{name}": array for name, array in state.items()})
    write_folder(path, arrays, _description(model))


def load(
    path: Path, cls: type["InteractiveClusterer"], given: Mapping[str, Any]
) -> "InteractiveClusterer":
    """Return a model that predicts.

    `given` are the parameters that could not be saved, and an encoder to be downloaded.
    """
    arrays, saved = read_folder(path)
    if saved["method"] != cls.__name__:
        raise ModelFileError(
            f"{path} holds a {saved['method']} model, not a {cls.__name__}; "
            f"load it with {saved['method']}.load."
        )
    check_model_file(path, arrays, saved)
    with reading(path):
        parameters = _parameters(cls, saved["parameters"])
    missing = [name for name in saved["not_saved"] if name not in given]
    if missing:
        raise ModelFileError(
            f"{path} was trained with parameters that cannot be saved ({', '.join(missing)}); "
            f"give them again: {cls.__name__}.load(path, {missing[0]}=...)."
        )
    with reading(path):
        model = cls(**{**parameters, **given})
        model._prepare_without_data(saved["input"])
        _set_state(model, arrays, saved)
    check_prediction(path, model)
    model._allow_download = "encoder" in given
    return model


def restore(model: "InteractiveClusterer", path: Path) -> None:
    """Restore a checkpoint into a newly started model."""
    arrays, saved = read_folder(path)
    check_model_file(path, arrays, saved)
    own = _description(model)
    added = {name: defaults(type(model))[name] for name in own["parameters"]}  # since it was saved
    saved["parameters"] = _to_json({**added, **_parameters(type(model), saved["parameters"])})
    for what in ("method", "parameters", "input"):
        if saved[what] != own[what]:
            raise ModelFileError(
                f"The checkpoint {path} was made with another {what} "
                f"({_first_difference(saved[what], own[what])}). "
                "Use the same settings and images, or another checkpoint folder."
            )
    with reading(path):
        _set_state(model, arrays, saved)


def _description(model: "InteractiveClusterer") -> dict[str, Any]:
    """Return all of a model that is not an array."""
    parameters = {name: getattr(model, name) for name in defaults(type(model))}
    plain = {name: value for name, value in parameters.items() if _is_plain(value)}
    graph = model.constraints_
    return {
        "method": type(model).__name__,
        "parameters": _to_json(plain),
        "not_saved": sorted(set(parameters) - set(plain)),
        "input": describe_data(model._data),
        "numbers": {name: getattr(model, name) for name in NUMBERS if hasattr(model, name)},
        "answers": [answer_to_row(answer) for answer in graph.answers.values()],
        "pseudo_links": [[*pair, int(relation)] for pair, relation in graph.pseudo().items()],
        "history": model.history_,
        "versions": {"likewise": __version__, "python": platform.python_version()},
    }


def _set_state(model: "InteractiveClusterer", arrays: Arrays, saved: Mapping[str, Any]) -> None:
    for name in NUMBERS:
        if name in saved["numbers"]:
            setattr(model, name, saved["numbers"][name])
    for name in RESULTS:
        setattr(model, name, arrays[name])
    model.history_[:] = saved["history"]
    for row in saved["answers"]:
        model.constraints_.tell(answer_from_row(row))
    for first, second, relation in saved["pseudo_links"]:
        model.constraints_.add_pseudo(first, second, Relation(relation))
    model.learner_.set_state(_below("learner/", arrays))
    model.questioner_.set_state(_below("questioner/", arrays))


def _below(prefix: str, arrays: Arrays) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose name begins with `prefix`, under the rest of their name."""
    return {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}


# -- parameters -------------------------------------------------------------------


def _is_plain(value: Any) -> bool:
    kinds = (bool, int, float, str, TrainingPlan, NetworkConfig, np.integer)
    return value is None or isinstance(value, kinds) or _is_texts(value)


def _is_texts(value: Any) -> bool:
    """Return whether a value is a sequence of texts, which parameters also take as one text."""
    is_list = isinstance(value, list | tuple)
    return is_list and all(isinstance(one, str) and "," not in one for one in value)


def _to_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if is_dataclass(value) and not isinstance(value, type):
            return asdict(value)
        if _is_texts(value):
            return ",".join(value)
        return int(value) if isinstance(value, np.integer) else value

    return {name: plain(value) for name, value in parameters.items()}


def _parameters(cls: type, saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor parameters from JSON."""
    return {
        name: PARTS[name](**value) if name in PARTS and value is not None else value
        for name, value in upgrade_parameters(cls, saved).items()
    }


def _first_difference(saved: Any, present: Any) -> str:
    if isinstance(saved, dict) and isinstance(present, dict):
        for key in [*saved, *present]:
            if saved.get(key) != present.get(key):
                return f"{key}={saved.get(key)!r}, now {present.get(key)!r}"
    return f"{saved!r}, now {present!r}"


# -- folders ----------------------------------------------------------------------


def write_folder(path: Path, arrays: Arrays, description: Mapping[str, Any]) -> None:
    """Write a model folder; an earlier one is replaced atomically."""
    path = Path(path)
    make_folder(path.parent)
    new = hidden_name(path)
    make_folder(new)
    try:
        save_file({name: np.array(a, order="C") for name, a in arrays.items()}, new / ARRAYS_FILE)
        text = json.dumps({"format": FORMAT, **description}, indent=1, ensure_ascii=False)
        (new / MODEL_FILE).write_bytes(text.encode("utf-8", "backslashreplace"))
        limit_permissions(new, new.stat().st_mode)  # safetensors chooses its own
        _replace_folder(path, new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _replace_folder(path: Path, new: Path) -> None:
    if not path.exists():
        os.replace(new, path)
        return
    if not (path / MODEL_FILE).exists():
        raise ModelFileError(
            f"{path} exists and is not a likewise model, so it was not overwritten; "
            "choose another name or remove it."
        )
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    os.replace(path, old / "model")
    os.replace(new, path)
    shutil.rmtree(old, ignore_errors=True)


def read_folder(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the description in a model folder, in the current format.

    Raises
    ------
    ModelFileError
        If there is none, or it is damaged or newer.
    """
    path = Path(path)
    check_model(path)
    if (path / MODEL_FILE).stat().st_size > _MAX_DESCRIPTION:
        raise ModelFileError(
            f"{path} is damaged ({MODEL_FILE} is larger than {_MAX_DESCRIPTION // 2**20} MB); "
            "save the model again."
        )
    try:
        description: dict[str, Any] = json.loads((path / MODEL_FILE).read_text(encoding="utf-8"))
        arrays: dict[str, npt.NDArray[Any]] = load_file(path / ARRAYS_FILE)
        written = int(description.get("format", 0))
    except (
        ValueError,
        SafetensorError,
        RecursionError,
        AttributeError,
        LookupError,
        TypeError,
    ) as error:
        raise ModelFileError(f"{path} is damaged ({error}); save the model again.") from error
    if written > FORMAT:
        raise ModelFileError(
            f"{path} has format {written}, this release reads up to {FORMAT}. Upgrade likewise, "
            "or load the model with the release that wrote it."
        )
    if written == FORMAT:
        return arrays, description
    with reading(path):
        return upgrade(arrays, description)


def check_model(path: Path) -> None:
    """Raise unless there is a model at `path`, without reading it.

    Raises
    ------
    ModelFileError
    """
    if not path.exists():
        raise ModelFileError(
            f"{path} does not exist; check the path, or train a model with `likewise fit -o`."
        )
    if not (path / MODEL_FILE).is_file() or not (path / ARRAYS_FILE).is_file():
        raise ModelFileError(
            f"{path} is not a likewise model: it needs {MODEL_FILE} and {ARRAYS_FILE}. "
            "Give a folder written by `save` or `likewise fit -o`."
        )
