"""Parameters of estimators: TrainingPlan, NetworkConfig, presets, and ``KEY=VALUE`` texts.

Parameters of release 0.1 that were removed are ignored.
"""

import inspect
import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np

from likewise.errors import InvalidParameterError, LikewiseWarning, UnknownNameError

QUERY_TIMINGS = ("round", "batch")
SAMPLERS = ("uniform", "linked")
DEFAULT_BACKBONE = "resnet18"  # trained from scratch on images if none is named


@dataclass(frozen=True)
class TrainingPlan:
    """Rounds, questions, epochs, batches and step size of one training.

    Parameters
    ----------
    warmup_epochs : int
        Epochs before the first question, with ``query_timing="round"``.
    n_rounds, epochs_per_round : int
        Each round asks questions, then trains for `epochs_per_round`.
    batch_size : int
        Images in a step, over all processes together.
    learning_rate, weight_decay : float
    optimiser : {"adam", "adamw", "sgd"}
    clip_norm : float, optional
        Maximum norm of the gradient.
    query_timing : {"round", "batch"}
        ``round``: ask between rounds; for people, and the default.
        ``batch``: in every step choose pairs inside the batch and use their answers in
        the loss of the same step, as the papers do.
    questions_per_batch, first_query_epoch : int
        With ``query_timing="batch"``. OCC asks 2 from epoch 1, PCL 1 from epoch 10.
    sampler : {"uniform", "linked"}
        How batches are drawn: uniformly, or with a fraction of images that have constraints.
    constrained_fraction : float
        Largest fraction of a batch drawn from constrained pairs by ``sampler="linked"``.
    reset_each_round : bool
        Start every round with an untrained network, which learns from all answers so far:
        assignments that have become confident without an answer rarely change afterwards.
    precision : {"auto", "float32", "bf16"}
        ``auto`` measures at the first training which is fastest for images, and also whether
        channels are stored last; the choice is kept in the cache and in checkpoints.
    compiled : bool
        Compile the backbone with ``torch.compile``: about a minute before the first step, and
        results equal up to rounding.
    checkpoint_every : int
        Epochs between checkpoints, if a checkpoint folder is given.
    log_to : str, optional
        Folder for TensorBoard.
    """

    warmup_epochs: int = 0
    n_rounds: int = 1
    epochs_per_round: int = 20
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    optimiser: str = "adam"
    clip_norm: float | None = None
    query_timing: Literal["round", "batch"] = "round"
    questions_per_batch: int = 1
    first_query_epoch: int = 1
    sampler: Literal["uniform", "linked"] = "uniform"
    constrained_fraction: float = 0.5
    reset_each_round: bool = False
    precision: str = "auto"
    compiled: bool = False
    checkpoint_every: int = 10
    log_to: str | None = None

    def __post_init__(self) -> None:
        for name in ("n_rounds", "epochs_per_round", "batch_size", "checkpoint_every"):
            check_range(f"TrainingPlan: {name}", getattr(self, name), 1)
        for name in ("warmup_epochs", "questions_per_batch", "first_query_epoch", "weight_decay"):
            check_range(f"TrainingPlan: {name}", getattr(self, name), 0)
        if not self.learning_rate > 0:
            raise InvalidParameterError(
                f"TrainingPlan: learning_rate must be greater than 0, got {self.learning_rate}."
            )
        check_range("TrainingPlan: constrained_fraction", self.constrained_fraction, 0, 1)
        check_choice("query_timing", self.query_timing, QUERY_TIMINGS)
        check_choice("sampler", self.sampler, SAMPLERS)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        Raises
        ------
        UnknownNameError
            If there is no such field.
        """
        check_field_names(self, changes)
        return replace(self, **changes)

    def questions_in_round(self, n_questions: int, number: int) -> int:
        """Return how many of `n_questions` are asked in round `number` (from 0)."""
        share, rest = divmod(n_questions, self.n_rounds)
        return share + (number < rest)


@dataclass(frozen=True)
class NetworkConfig:
    """Layer widths of a network, and the augmentation of its input.

    Parameters
    ----------
    n_features : int
        Output width of the trunk for vectors; a backbone has its own.
    n_hidden, n_projection : int
        Hidden width of both heads, and width of the projection z.
    size : int
        Side length of images in pixels, with a backbone.
    recipe : str
        Augmentation of images: ``cc-small``, ``cc-large``, ``cc-imagenet``, ``pcl``,
        ``simclr-dsac``, ``gentle``.
    feature_dropout, feature_noise, block_dropout : float
        Augmentation of vectors: fraction of columns dropped, noise in standard
        deviations, fraction of feature blocks dropped.
    """

    n_features: int = 512
    n_hidden: int = 512
    n_projection: int = 128
    size: int = 64
    recipe: str = "cc-small"
    feature_dropout: float = 0.4
    feature_noise: float = 0.5
    block_dropout: float = 0.0

    def __post_init__(self) -> None:
        for name in ("n_features", "n_hidden", "n_projection", "size"):
            check_range(f"NetworkConfig: {name}", getattr(self, name), 1)
        for name in ("feature_dropout", "block_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InvalidParameterError(
                    f"NetworkConfig: {name} must be at least 0 and below 1, "
                    f"got {getattr(self, name)}."
                )

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed.

        Raises
        ------
        UnknownNameError
            If there is no such field.
        """
        check_field_names(self, changes)
        return replace(self, **changes)


def check_field_names(config: Any, names: Iterable[str]) -> None:
    """Raise unless all `names` are fields of a dataclass; the nearest is suggested."""
    known = [field.name for field in fields(config)]
    for name in names:
        if name not in known:
            raise UnknownNameError(f"field of {type(config).__name__}", name, known)


def check_range(name: str, value: float, least: float, most: float = math.inf) -> None:
    """Raise unless `value` is between `least` and `most`."""
    if not least <= value <= most:
        wanted = f"at least {least}" if most == math.inf else f"between {least} and {most}"
        raise InvalidParameterError(f"{name} must be {wanted}, got {value}.")


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise unless `value` is one of `choices`; the nearest is suggested."""
    known = list(choices)
    if value not in known:
        raise UnknownNameError(f"value of {name}", str(value), [str(choice) for choice in known])


def check_n_clusters(k: Any, n_images: int) -> None:
    """Raise unless `n_images` images can form `k` clusters."""
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidParameterError(f"n_clusters must be an integer >= 2, got {k!r}.")
    if k == 1:  # scikit-learn's estimator checks require that it works
        warnings.warn(
            "n_clusters=1 puts all images into one cluster; use at least 2.",
            LikewiseWarning,
            stacklevel=4,
        )
    if k > n_images:
        raise InvalidParameterError(
            f"n_clusters must be at most the number of images, got n_clusters={k} for "
            f"n_samples={n_images}."
        )


def draw_seed(random_state: Any) -> int:
    """Return an integer seed for `random_state`: None, an integer or a numpy RandomState."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


_E = TypeVar("_E")

#: Names of release 0.1 -> present names, for saved models, sweep files and ``--set``.
#: None: the parameter was removed and its value is ignored.
RENAMED_FIELDS: Mapping[str, str] = {
    "cadence": "query_timing",
    "linked_share": "constrained_fraction",
    "fresh": "reset_each_round",
    "facet_dropout": "block_dropout",  # renamed
}
PARTS: Mapping[str, type[TrainingPlan] | type[NetworkConfig]] = {
    "plan": TrainingPlan,
    "architecture": NetworkConfig,
}


def defaults(cls: type) -> dict[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]  # of this very class
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self"
    }


def preset_values(cls: type, name: str) -> dict[str, Any]:
    """Return all values of a preset."""
    presets: Mapping[str, Mapping[str, Any]] = getattr(cls, "presets", {})
    if name not in presets:
        raise UnknownNameError(f"preset of {cls.__name__}", name, presets)
    return dict(presets[name])


def resolve(estimator: _E) -> _E:
    """Return an estimator with the effective parameters: defaults, then preset, then changes.

    A parameter that has its default value takes the preset's; any other value is the user's
    and stays. An estimator cannot know whether its default was given explicitly, since `clone`
    passes all parameters. To keep a default against a preset, use
    ``PCL.from_preset("paper", norm="global")``; `make_method` and ``--set`` do the same.
    The estimator itself is not changed, as scikit-learn requires.
    """
    resolved = object.__new__(type(estimator))
    for name, value in parameters_in_force(estimator).items():
        setattr(resolved, name, value)
    return resolved


def parameters_in_force(estimator: object) -> dict[str, Any]:
    """Return the effective parameters of an estimator by name; see `resolve`."""
    plain = defaults(type(estimator))
    given = {name: getattr(estimator, name) for name in plain}
    preset = given.get("preset")
    if preset is None:
        return given
    changes = {
        key: value
        for key, value in preset_values(type(estimator), preset).items()
        if given[key] is plain[key] or given[key] == plain[key]
    }
    return {**given, **changes}


# -- KEY=VALUE ------------------------------------------------------------------

_SET_ELSEWHERE = {
    "n_clusters": "use -k on the command line, n_clusters= in Python",
    "random_state": "use --seed on the command line, seed= in Python",
    "preset": "use --preset on the command line, preset= in Python",
    "plan": "set one of its fields, e.g. epochs_per_round=20",
    "architecture": "set one of its fields, e.g. n_hidden=256",
}
_CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


def parse_settings(cls: type, preset: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor parameters of `cls`: the preset's, changed by `settings`.

    Raises
    ------
    UnknownNameError
        If a key is neither a parameter nor a field of the training plan or network
        configuration of this method.
    InvalidParameterError
        If a value has the wrong type.
    """
    own = defaults(cls)
    chosen = {} if preset is None else preset_values(cls, preset)
    for given_key, value in settings.items():
        key = renamed_parameters(cls).get(given_key, given_key)
        if key is None:
            continue
        if key in _SET_ELSEWHERE:
            raise InvalidParameterError(f"{key!r} cannot be set directly; {_SET_ELSEWHERE[key]}.")
        if key in own:
            chosen[key] = parse_value(key, value, chosen.get(key, own[key]), default=own[key])
            continue
        part = _part_with(key, own)
        if part is None:
            raise UnknownNameError(f"setting of {cls.__name__}", key, known_settings(cls))
        kind = PARTS[part]
        present = chosen.get(part) or own[part] or getattr(cls, f"default_{part}", None) or kind()
        field = parse_value(key, value, getattr(present, key), default=getattr(kind(), key))
        chosen[part] = present.replace(**{key: field})
    return chosen


def known_settings(cls: type) -> list[str]:
    """Return every key that `parse_settings` accepts for this method."""
    own = defaults(cls)
    entries = [f.name for part in PARTS if part in own for f in fields(PARTS[part])]
    return [name for name in [*own, *entries] if name not in _SET_ELSEWHERE]


def renamed_parameters(cls: type) -> dict[str, str | None]:
    """Return parameters of release 0.1 by their old names; None if one has no successor."""
    return {**RENAMED_FIELDS, **getattr(cls, "renamed_parameters", {})}


def parse_value(key: str, value: Any, present: Any, *, default: Any) -> Any:
    """Return `value` as the type of `present`, the value that it replaces.

    Examples
    --------
    >>> parse_value("batch_size", "128", 256, default=256)
    128
    >>> parse_value("views", "none", "two", default="two")
    'none'
    """
    if not isinstance(value, str):
        return value
    if default is None and value.lower() == "none":
        return None
    if isinstance(present, str):  # "none" is a choice of some parameters, as in views="none"
        return value
    try:
        return _PARSERS.get(type(present), _parse_any)(value)
    except ValueError as error:
        raise InvalidParameterError(
            f"{key} must be {_KINDS[type(present)]} (currently {present!r}), got {value!r}."
        ) from error


def _part_with(key: str, own: Mapping[str, Any]) -> str | None:
    """Return the parameter whose dataclass has a field called `key`."""
    for part, kind in PARTS.items():
        if part in own and key in (f.name for f in fields(kind)):
            return part
    return None


def _parse_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _parse_int(text: str) -> int:
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def _parse_any(text: str) -> Any:
    """Return a constant, an integer, a float or the text itself, whichever fits first."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


_PARSERS: Mapping[type, Any] = {bool: _parse_bool, int: _parse_int, float: float}
_KINDS = {bool: "true or false", int: "an integer", float: "a number"}
