"""Constructor values, presets and what results from the two."""

import inspect
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from likewise.errors import UnknownNameError


def resolve(estimator: object) -> SimpleNamespace:
    """Return the settings in force: defaults, then the preset, then what the user changed.

    A parameter that has its default value takes the preset's; any other value is the user's
    and stays. An estimator cannot know who gave it its default value: `clone` gives it all of
    them. To keep a default against a preset: ``PCL.from_preset("paper", norm="global")``;
    `make_method` and ``--set`` do the same. The estimator is not touched, as scikit-learn asks.
    """
    given = {name: getattr(estimator, name) for name in defaults(type(estimator))}
    name = given.get("preset")
    if name is None:
        return SimpleNamespace(**given)
    plain = defaults(type(estimator))
    chosen = {
        key: value
        for key, value in preset_of(type(estimator), name).items()
        if given[key] is plain[key] or given[key] == plain[key]
    }
    return SimpleNamespace(**{**given, **chosen})


def preset_of(cls: type, name: str) -> dict[str, Any]:
    """Return all values of a preset."""
    presets: Mapping[str, Mapping[str, Any]] = getattr(cls, "presets", {})
    if name not in presets:
        raise UnknownNameError(f"preset of {cls.__name__}", name, presets)
    return dict(presets[name])


def defaults(cls: type) -> dict[str, Any]:
    """Return the constructor's parameters and their defaults."""
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]  # of this very class
    return {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self"
    }
