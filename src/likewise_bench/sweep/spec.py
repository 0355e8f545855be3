"""Sweep files: a TOML file of lists whose product gives the runs; run keys."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from likewise.errors import InvalidParameterError, SweepFileError, UnknownNameError
from likewise.estimators.registry import all_methods
from likewise_bench.method_info import method_info
from likewise_bench.spec import RunSpec

_LOCATIONS = ("data",)  # do not affect the result


def spec_of(run: RunSpec) -> dict[str, Any]:
    """Return the non-default fields of a run.

    Examples
    --------
    >>> spec_of(RunSpec("kmeans", dataset="digits", data="/anywhere", settings={"n_init": "3"}))
    {'method': 'kmeans', 'dataset': 'digits', 'settings': {'n_init': '3'}}
    """
    given = {field.name: getattr(run, field.name) for field in fields(RunSpec)}
    default = RunSpec("", dataset="")
    changed: dict[str, Any] = {}
    for name, value in given.items():
        is_default = name != "method" and value == getattr(default, name)
        if name not in _LOCATIONS and value is not None and not is_default:
            changed[name] = _plain(value)
    return changed


def key_of(run: RunSpec | Mapping[str, Any]) -> str:
    """Return a string that is equal for equal runs."""
    spec = spec_of(run) if isinstance(run, RunSpec) else run
    return json.dumps(spec, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    return list(value) if isinstance(value, tuple) else value


#: Key of an entry -> field of `RunSpec`; the keys are the option names of ``bench run``.
_OTHER_NAMES = {"questions": "n_questions", "k": "n_clusters", "limit": "n_images"}
_FIELDS = {field.name for field in fields(RunSpec)} - {"dataset", "criterion", "settings"}
KEYS = (_FIELDS - set(_OTHER_NAMES.values()) | set(_OTHER_NAMES) | {"on", "set"}) | {"n_images"}
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("n_questions", "seed", "n_images", "n_test"), (int,)),
    "n_clusters": (int, str),
    **dict.fromkeys(("noise", "unsure", "test_fraction", "seconds"), (int, float)),
    "from_scratch": (bool,),
}
_TOP = ("title", "about", "defaults", "runs")


@dataclass(frozen=True)
class Sweep:
    """The contents of a sweep file.

    Attributes
    ----------
    name, title, about : str
    runs : tuple of RunSpec
        In the order of the file, without duplicates.
    """

    name: str
    title: str
    about: str
    runs: tuple[RunSpec, ...]


def read_sweep(path: Path, data: str | None = None) -> Sweep:
    """Read a sweep file.

    Parameters
    ----------
    path : Path
        A TOML file: ``[defaults]`` for all, and one or more ``[[runs]]``. Every key may have a
        list of values; an entry gives one run per combination. ``on`` has the criteria of each
        data set, ``on = { fashion = ["type", "colour"] }``; ``set`` has parameters of the
        methods; all other keys are named as the options of ``bench run``.
        Methods that ask no questions are run once, with a budget of 0.
    data : str, optional
        Directory of the data sets; replaces that of the file, which is relative to the file.

    Raises
    ------
    SweepFileError
        If the file cannot be read, is not TOML, or has an invalid run.
    """
    content = _parse(path)
    _check_keys(path, content, _TOP, "part")
    entries = content.get("runs", [])
    if not isinstance(entries, list) or not entries:
        raise SweepFileError(f"{str(path)!r} has no [[runs]]; add at least one.")
    defaults = content.get("defaults", {})
    found: dict[str, RunSpec] = {}
    for number, entry in enumerate(entries, start=1):
        try:
            settings = {**defaults.get("set", {}), **entry.get("set", {})}
            for run in _runs({**defaults, **entry, "set": settings}, path.parent, data):
                found.setdefault(key_of(run), run)
        except InvalidParameterError as error:
            raise SweepFileError(f"{str(path)!r}, [[runs]] number {number}: {error}") from error
    title = str(content.get("title", path.stem))
    return Sweep(path.stem, title, str(content.get("about", "")).strip(), tuple(found.values()))


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise SweepFileError(f"The sweep file {str(path)!r} cannot be opened: {reason}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SweepFileError(f"{str(path)!r} is not TOML ({error}); correct that line.") from error


def _check_keys(path: Path, table: Mapping[str, Any], known: Any, what: str) -> None:
    for key in table:
        if key not in known:
            raise SweepFileError(f"{str(path)!r}: {UnknownNameError(what, key, known)}")


def _check_entry(entry: Mapping[str, Any]) -> None:
    for key in entry:
        if key in ("dataset", "criterion", "orientation"):
            raise InvalidParameterError(
                f"{key}={entry[key]!r}: data sets and criteria must be given together, as "
                'on = { digits = ["digit"] }, or on = ["colour"] beside images and labels.'
            )
        if key not in KEYS:
            raise UnknownNameError("key of a sweep", key, KEYS)
        if entry[key] == []:
            raise InvalidParameterError(
                f"{key} must not be an empty list; give at least one value, or omit the key."
            )


def _runs(entry: Mapping[str, Any], folder: Path, data: str | None) -> Iterator[RunSpec]:
    _check_entry(entry)
    settings = {key: _several(value) for key, value in entry["set"].items()}
    methods = _several(entry.get("method", ["likewise"]))
    for where, method in product(_tasks(entry), methods):
        for values in _product(_axes(entry, folder, data)):
            chosen = _chosen(method, values)
            for some in _product(settings):
                texts = {key: _text(value) for key, value in some.items()}
                yield RunSpec(method, **where, **chosen, settings=texts)


def _axes(entry: Mapping[str, Any], folder: Path, data: str | None) -> dict[str, list[Any]]:
    """Return every option with its values, named as in `RunSpec`; resolve relative paths."""
    given = {
        _OTHER_NAMES.get(key, key): value
        for key, value in entry.items()
        if key not in ("on", "set", "method")
    }
    for name in ("data", "images", "labels"):
        if name in given:
            given[name] = str(folder / Path(str(given[name])).expanduser())
    if data is not None:
        given["data"] = data
    return {key: _several(value) for key, value in given.items()}


def _chosen(method: str, values: dict[str, Any]) -> dict[str, Any]:
    if method not in all_methods():
        raise UnknownNameError("method", method, all_methods())
    _check_types(values)
    if not method_info(method)["asks"]:
        values.update(n_questions=0, seconds=None)  # the budget has no effect: run it once
    if values.get("kinds"):
        values["kinds"] = tuple(kind.strip() for kind in values["kinds"].split(","))
    return values


def _check_types(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        wanted = _TYPES.get(name, (str,))
        is_right = isinstance(value, wanted) and (wanted == (bool,) or not isinstance(value, bool))
        if value is not None and not is_right:
            types = " or ".join(kind.__name__ for kind in wanted)
            raise InvalidParameterError(f"{name} must be of type {types}, got {value!r}.")


def _tasks(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return data sets and criteria; an image folder has criteria only."""
    on = entry.get("on", {})
    if not isinstance(on, Mapping) and "images" not in entry:
        raise InvalidParameterError(
            f"on = {on!r} needs images and labels; for a data set write "
            'on = { digits = ["digit"] }.'
        )
    if not isinstance(on, Mapping):
        return [{"criterion": name} for name in _several(on)]
    if "images" not in entry and not on:
        raise InvalidParameterError(
            'Missing on or images: give the data, for example on = { digits = ["digit"] }.'
        )
    return [
        {"dataset": dataset, "criterion": criterion}
        for dataset, names in on.items()
        for criterion in _several(names)
    ] or [{}]


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _product(axes: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def _text(value: Any) -> str:
    """Return a value in the syntax of ``--set``."""
    return str(value).lower() if isinstance(value, bool) else str(value)
