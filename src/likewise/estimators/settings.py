"""Effective parameters of an estimator: presets, ``KEY=VALUE`` settings, renamed parameters of 0.1.

Parameters of release 0.1 that are gone are ignored.
"""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.estimators.params import NetworkConfig, TrainingPlan

_E = TypeVar("_E")

#: Names of release 0.1 -> present names, for saved models, sweep files and ``--set``.
#: None: the parameter is gone and its value is ignored.
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
    """Return an estimator with the parameters in force: defaults, then preset, then changes.

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
    """Return the parameters in force of an estimator by name; see `resolve`."""
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
