"""A method on disk: its settings, network, answers and where it stood; loading and resuming."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from likewise import __version__
from likewise.constraints.question import Answer, Question, Relation
from likewise.errors import ModelFileError
from likewise.methods.architecture import Architecture
from likewise.methods.plan import Plan
from likewise.methods.settings import defaults
from likewise.nn.checkpoint_io import (
    optimiser_tensors,
    read_folder,
    restore_optimiser,
    write_folder,
)

if TYPE_CHECKING:
    from likewise.methods.base import PersonalClusterer

_COUNTERS = (
    "_seed",
    "_round",
    "_is_warm",
    "_epoch",
    "_epochs_due",
    "violations_",
    "n_features_in_",
    "image_names_",
)
_ASKER = ("n_calls", "n_asked", "n_heard", "budget")


def save(model: "PersonalClusterer", path: Path) -> None:
    """Write everything needed to predict, and to go on training with the same images."""
    write_folder(path, _tensors(model), _facts(model))


def load(path: Path, cls: type["PersonalClusterer"], parts: Mapping[str, Any]) -> Any:
    """Return a model that predicts; `parts` gives parameters that cannot be JSON."""
    tensors, facts = read_folder(path)
    if facts["method"] != cls.__name__:
        raise ModelFileError(
            f"{path} holds a {facts['method']} model, not a {cls.__name__}; "
            f"load it with {facts['method']}.load."
        )
    missing = [name for name in facts["not_saved"] if name not in parts]
    if missing:
        raise ModelFileError(
            f"{path} was trained with parameters that cannot be saved ({', '.join(missing)}); "
            f"give them again: {cls.__name__}.load(path, {missing[0]}=...)."
        )
    model = cls(**{**_parameters(facts["parameters"]), **parts})
    model._wake(facts["input"])
    _put_back(model, tensors, facts)
    return model


def restore(model: "PersonalClusterer", path: Path) -> None:
    """Bring a freshly started model to where a checkpoint of it stood."""
    tensors, facts = read_folder(path)
    own = _facts(model)
    for what in ("method", "parameters", "input"):
        if facts[what] != own[what]:
            raise ModelFileError(
                f"The checkpoint {path} was made with another {what} "
                f"({_difference(facts[what], own[what])}); "
                "use the same settings and images, or another checkpoint folder."
            )
    _put_back(model, tensors, facts)


def _facts(model: "PersonalClusterer") -> dict[str, Any]:
    parameters = {name: getattr(model, name) for name in defaults(type(model))}
    plain = {name: _plain(value) for name, value in parameters.items() if _is_plain(value)}
    graph = model.constraints_
    return {
        "method": type(model).__name__,
        "parameters": plain,
        "not_saved": sorted(set(parameters) - set(plain)),
        "input": model._input_facts(),
        "counters": {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)},
        "asker": {name: getattr(model._asker, name) for name in _ASKER},
        "answers": [_answer_row(answer) for answer in graph.answers.values()],
        "guesses": [[*pair, int(relation)] for pair, relation in graph.pseudo().items()],
        "history": model.history_,
        "versions": {
            "likewise": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }


def _tensors(model: "PersonalClusterer") -> dict[str, Tensor]:
    arrays = {
        "labels": model.labels_,
        "probabilities": model.probabilities_,
        "embeddings": model._embeddings,
        "columns": model._columns,
        "remembered": model._asker.rows,
        "previous": model._asker.previous,
        **model._extra_arrays(),
    }
    found = {name: torch.from_numpy(np.asarray(a)) for name, a in arrays.items() if a is not None}
    for name, value in model._modules_to_save().items():
        state = value.state_dict() if isinstance(value, torch.nn.Module) else None
        entries = optimiser_tensors(value) if state is None else state
        found.update({f"{name}:{key}": tensor for key, tensor in entries.items()})
    return found


def _put_back(model: "PersonalClusterer", tensors: Mapping[str, Tensor], facts: Any) -> None:
    for name, value in facts["counters"].items():
        setattr(model, name, value)
    for name, value in facts["asker"].items():
        setattr(model._asker, name, value)
    model.history_ = list(facts["history"])
    for row in facts["answers"]:
        model.constraints_.tell(_row_answer(row))
    for first, second, relation in facts.get("guesses", ()):
        model.constraints_.add_pseudo(first, second, Relation(relation))
    arrays = {name: t.numpy() for name, t in tensors.items() if ":" not in name}
    model.labels_, model.probabilities_ = arrays["labels"], arrays["probabilities"]
    model._embeddings, model._columns = arrays["embeddings"], arrays["columns"]
    model._asker.rows, model._asker.previous = arrays.get("remembered"), arrays.get("previous")
    model._take_extra_arrays(arrays)
    for name, value in model._modules_to_save().items():
        own = {k.split(":", 1)[1]: t for k, t in tensors.items() if k.startswith(f"{name}:")}
        if isinstance(value, torch.nn.Module):
            value.load_state_dict(own)
        else:
            restore_optimiser(value, own)


def _answer_row(answer: Answer) -> list[Any]:
    q = answer.question
    return [q.kind, q.images, q.groups, answer.answer, answer.who, answer.at, answer.seconds]


def _row_answer(row: list[Any]) -> Answer:
    kind, images, groups, said, who, at, seconds = row
    question = Question(kind, tuple(images), tuple(groups))
    return Answer(question, said, who=who, at=at, seconds=seconds)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(
        value, (bool, int, float, str, Plan, Architecture, np.integer)
    )


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return int(value) if isinstance(value, np.integer) else value


def _parameters(saved: Mapping[str, Any]) -> dict[str, Any]:
    rebuilt = {"plan": Plan, "architecture": Architecture}
    return {
        name: rebuilt[name](**value) if name in rebuilt and value is not None else value
        for name, value in saved.items()
    }


def _difference(one: Any, other: Any) -> str:
    """Return the first difference of two facts, as a person reads it."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *other]:
            if one.get(key) != other.get(key):
                return f"{key}={one.get(key)!r}, now {other.get(key)!r}"
    return f"{one!r}, now {other!r}"
