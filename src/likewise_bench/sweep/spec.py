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

_WHERE = ("data",)  # where files lie decides nothing


def spec_of(run: RunSpec) -> dict[str, Any]:
    """Return the non-default fields of a run.

    Examples
    --------
    >>> spec_of(RunSpec("kmeans", dataset="digits", data="/anywhere", settings={"n_init": "3"}))
    {'method': 'kmeans', 'dataset': 'digits', 'settings': {'n_init': '3'}}
    """
    given = {field.name: getattr(run, field.name) for field in fields(RunSpec)}
    usual = RunSpec("", dataset="")
    asked: dict[str, Any] = {}
    for name, value in given.items():
        is_usual = name != "method" and value == getattr(usual, name)
        if name not in _WHERE and value is not None and not is_usual:
            asked[name] = _plain(value)
    return asked


def key_of(run: RunSpec | Mapping[str, Any]) -> str:
    """Return a string that is equal for equal runs."""
    spec = spec_of(run) if isinstance(run, RunSpec) else run
    return json.dumps(spec, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    return list(value) if isinstance(value, tuple) else value


#: What an entry calls it -> what a `RunSpec` calls it; the names are those of ``bench run``.
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
        In the order of the file; none twice.
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
        A TOML file: ``[defaults]`` for all, and one or more ``[[runs]]``. In each of them
        every key may have a list, and all lists are multiplied. ``on`` says which sets and
        how they are sorted, ``on = { fashion = ["type", "colour"] }``; ``set`` holds
        parameters of the methods; all others are called as the options of ``bench run``.
        Methods that ask nothing are run once, with a budget of 0.
    data : str, optional
        Where the sets lie, instead of what the file says (a path beside the file).

    Raises
    ------
    SweepFileError
        If the file is not there, no TOML, or holds what makes no run.
    """
    content = _parse(path)
    _check_keys(path, content, _TOP, "part")
    entries = content.get("runs", [])
    if not isinstance(entries, list) or not entries:
        raise SweepFileError(f"{str(path)!r} has no [[runs]], so there is nothing to do; add one.")
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
                f"{key}={entry[key]!r}: sets and criteria are written together; write "
                'on = { digits = ["digit"] }, or on = ["colour"] beside images and labels.'
            )
        if key not in KEYS:
            raise UnknownNameError("key of a sweep", key, KEYS)
        if entry[key] == []:
            raise InvalidParameterError(
                f"{key} is an empty list, so nothing would run; name at least one, or leave it out."
            )


def _runs(entry: Mapping[str, Any], beside: Path, data: str | None) -> Iterator[RunSpec]:
    _check_entry(entry)
    settings = {key: _several(value) for key, value in entry["set"].items()}
    methods = _several(entry.get("method", ["likewise"]))
    for where, method in product(_tasks(entry), methods):
        for values in _product(_axes(entry, beside, data)):
            chosen = _chosen(method, values)
            for some in _product(settings):
                words = {key: _word(value) for key, value in some.items()}
                yield RunSpec(method, **where, **chosen, settings=words)


def _axes(entry: Mapping[str, Any], beside: Path, data: str | None) -> dict[str, list[Any]]:
    """Return every option with its values, named as in `RunSpec`; resolve relative paths."""
    given = {
        _OTHER_NAMES.get(key, key): value
        for key, value in entry.items()
        if key not in ("on", "set", "method")
    }
    for name in ("data", "images", "labels"):
        if name in given:
            given[name] = str(beside / Path(str(given[name])).expanduser())
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
            words = " or ".join(kind.__name__ for kind in wanted)
            raise InvalidParameterError(f"{name}={value!r} is no {words}; write it as one.")


def _tasks(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return data sets and criteria; an image folder has criteria only."""
    on = entry.get("on", {})
    if not isinstance(on, Mapping) and "images" not in entry:
        raise InvalidParameterError(
            f"on = {on!r} says how to sort a folder of your own, but there is no images beside it; "
            'a data set is written on = { digits = ["digit"] }.'
        )
    if not isinstance(on, Mapping):
        return [{"criterion": name} for name in _several(on)]
    if "images" not in entry and not on:
        raise InvalidParameterError(
            'it does not say on which data; add for example on = { digits = ["digit"] }.'
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


def _word(value: Any) -> str:
    """Return a value in the syntax of ``--set``."""
    return str(value).lower() if isinstance(value, bool) else str(value)
