"""What makes two runs the same run: everything that decides their outcome, and nothing else."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from likewise.benchmark.protocol import Run

_WHERE = ("data",)  # where files lie decides nothing


def spec_of(run: Run) -> dict[str, Any]:
    """Return what was asked of a run, as far as it is not the default.

    Examples
    --------
    >>> spec_of(Run("kmeans", dataset="digits", data="/anywhere", settings={"n_init": "3"}))
    {'method': 'kmeans', 'dataset': 'digits', 'settings': {'n_init': '3'}}
    """
    given = {field.name: getattr(run, field.name) for field in fields(Run)}
    usual = Run("", dataset="")
    asked: dict[str, Any] = {}
    for name, value in given.items():
        is_usual = name != "method" and value == getattr(usual, name)
        if name not in _WHERE and value is not None and not is_usual:
            asked[name] = _plain(value)
    return asked


def key_of(run: Run | Mapping[str, Any]) -> str:
    """Return one line that is equal for equal runs."""
    spec = spec_of(run) if isinstance(run, Run) else run
    return json.dumps(spec, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(sorted(value.items()))
    return list(value) if isinstance(value, tuple) else value
