"""From ``KEY=VALUE`` to the parameters of a method: where each belongs, and of what type it is."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from likewise.errors import InvalidParameterError, UnknownNameError
from likewise.methods.architecture import Architecture
from likewise.methods.plan import Plan
from likewise.methods.settings import defaults, preset_of

_PARTS: Mapping[str, type[Plan] | type[Architecture]] = {
    "plan": Plan,
    "architecture": Architecture,
}
_OWN_PLACE = {
    "n_clusters": "-k on the command line, n_clusters= in Python",
    "random_state": "--seed on the command line, seed= in Python",
    "preset": "--preset on the command line, preset= in Python",
    "plan": "its entries, such as epochs_per_round=20",
    "architecture": "its entries, such as n_hidden=256",
}
_WORDS: Mapping[str, Any] = {"true": True, "false": False, "none": None}


def parameters(cls: type, preset: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return constructor parameters of `cls`: the preset's, changed by `settings`.

    Raises
    ------
    UnknownNameError
        If a key is none of parameter, plan entry and architecture entry, or the method has no
        use for a plan.
    InvalidParameterError
        If a value cannot be read as what belongs there.
    """
    own = defaults(cls)
    chosen = {} if preset is None else preset_of(cls, preset)  # all: a setting may undo one
    for key, value in settings.items():
        if key in _OWN_PLACE:
            raise InvalidParameterError(f"{key!r} is no setting; give {_OWN_PLACE[key]}.")
        if key in own:
            chosen[key] = parse(key, value, chosen.get(key, own[key]), default=own[key])
            continue
        part = _part_with(key, cls, own)
        if part is None:
            raise UnknownNameError(f"setting of {cls.__name__}", key, known_settings(cls))
        kind = _PARTS[part]
        present = chosen.get(part) or own[part] or getattr(cls, f"default_{part}", None) or kind()
        entry = parse(key, value, getattr(present, key), default=getattr(kind(), key))
        chosen[part] = present.but(**{key: entry})
    return chosen


def known_settings(cls: type) -> list[str]:
    """Return every key `parameters` takes for this method."""
    own = defaults(cls)
    entries = [f.name for part in _parts(cls, own) for f in fields(_PARTS[part])]
    return [name for name in [*own, *entries] if name not in _OWN_PLACE]


def parse(key: str, value: Any, present: Any, *, default: Any) -> Any:
    """Return `value` as what `present`, the value it replaces, says it should be.

    Examples
    --------
    >>> parse("batch_size", "128", 256, default=256), parse("views", "none", "two", default="two")
    (128, 'none')
    """
    if not isinstance(value, str):
        return value
    if default is None and value.lower() == "none":
        return None
    if isinstance(present, str):  # also where "none" is a word, as in views="none"
        return value
    try:
        return _READERS.get(type(present), _guess)(value)
    except ValueError as error:
        raise InvalidParameterError(
            f"{key}={value!r} is no {_KINDS[type(present)]} (now {present!r}); give one."
        ) from error


def _part_with(key: str, cls: type, own: Mapping[str, Any]) -> str | None:
    """Return which of the method's parts has an entry called `key`."""
    for part in _parts(cls, own):
        if key in (f.name for f in fields(_PARTS[part])):
            return part
    return None


def _parts(cls: type, own: Mapping[str, Any]) -> list[str]:
    """Return which parts the method has and makes use of; only `Likewise` has an idle one."""
    idle = () if getattr(cls, "uses_plan", True) else ("plan",)
    return [part for part in _PARTS if part in own and part not in idle]


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _whole(text: str) -> int:
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def _guess(text: str) -> Any:
    """Return a truth, a whole number, a number or a word, whichever fits first."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


_READERS: Mapping[type, Any] = {bool: _truth, int: _whole, float: float}
_KINDS = {bool: "true or false", int: "whole number", float: "number"}
